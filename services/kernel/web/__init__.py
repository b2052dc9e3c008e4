"""HTTP: endpoint declarations, and errors as problem documents."""
