"""The private API: checks what a person asks for, and asks the coordinator. One module for each kind of thing."""
