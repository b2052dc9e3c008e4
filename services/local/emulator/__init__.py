"""Google's Firestore emulator: where it is on this machine, and when it is warm."""
