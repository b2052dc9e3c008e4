"""Public webhooks and the private API: verifies, seals, forwards; has no store."""
