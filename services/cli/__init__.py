"""The `anvil` command."""
