"""The same services on one machine, over an embedded store."""
