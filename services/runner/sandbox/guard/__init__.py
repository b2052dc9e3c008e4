"""The guard: a small process that everything of a run hangs on, and that outlives the runner just long enough."""
