"""The messages that the services send each other."""
