"""Ten situations in which "did it happen?" is hard, on Anvil's ledger and on Powertools for AWS Lambda (Python).

    make compare

Each situation is told once, in `situations`. Callers are processes of their own, one program a side (`anvil_caller`,
`powertools_caller`), which die, stop and lose answers for real; the other system counts in a file what it did.
Nothing of the table is written by hand.
"""
