"""Checks out one commit and runs its commands, one run at a time."""
