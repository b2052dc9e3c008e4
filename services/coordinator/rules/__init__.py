"""The coordinator's decisions, all pure: state and command in, new state out; the time is an argument."""
