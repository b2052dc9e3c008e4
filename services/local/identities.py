"""Who is who in a local stack: the same signed tokens as anywhere, from an issuer of its own."""

ISSUER = "https://anvil.local"

INGRESS_AUDIENCE = "anvil-ingress"
COORDINATOR_AUDIENCE = "anvil-coordinator"
RUNNER_AUDIENCE = "anvil-runner"
PLATFORM_AUDIENCE = "anvil-platform"

HOOKS = "hooks@anvil.local"
CONSOLE = "console@anvil.local"
COORDINATOR = "coordinator@anvil.local"
RUNNER = "runner@anvil.local"
TASKS = "tasks@anvil.local"
SCHEDULER = "scheduler@anvil.local"

VIEWER = "viewer@anvil.local"
OPERATOR = "operator@anvil.local"
ADMIN = "admin@anvil.local"
