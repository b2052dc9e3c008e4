"""Anvil's services: a push comes in at the top and leaves as a finished run.

    ingress      public webhooks and the private API; verifies, seals, forwards; has no store
    coordinator  owns every durable decision: queues, runs, deliveries, webhooks, the index
    runner       checks out one commit and runs its commands
    cli          the `anvil` command
    local        the same services on one machine: `anvil up`, `anvil demo`
    kernel       what they must agree on; imports none of them

Services never import each other; they meet in `kernel.wire`.
"""
