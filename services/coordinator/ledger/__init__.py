"""The idempotency ledger: one row a key, made before another system is called, and kept until what it did is known."""
