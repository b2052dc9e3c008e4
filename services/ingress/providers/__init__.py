"""What each Git host sends, one file a host; pure."""
