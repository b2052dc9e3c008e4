"""What the coordinator remembers: one module a document, and how a document is written and read."""
