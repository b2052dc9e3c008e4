"""A local stack as on Google Cloud: Firestore's emulator, Cloud Tasks, Cloud Run's front end, several instances."""
