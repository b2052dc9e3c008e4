"""The outside world: stores, task queues, clocks. The only packages that import vendors."""
