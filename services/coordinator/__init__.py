"""The only owner of durable state."""
