"""The production runner in the simulated world: its coordinator, sandbox, tasks and time are played, git is real."""
