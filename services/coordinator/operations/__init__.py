"""Approved operations: calls to other systems, each declared in a reviewed catalogue and made under its gates.

Read `operations.py` first: it has the gates in their order. Nothing here claims exactly once (R138).
"""
