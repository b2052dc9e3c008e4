"""The walls around untrusted commands."""
