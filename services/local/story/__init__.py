"""The demo's story: a repository, a Git host and a person at work with Anvil."""
