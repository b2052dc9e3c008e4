"""Which use case answers which endpoint; one module for each kind of caller, and for the console two."""
