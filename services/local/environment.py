"""What each process of a local stack is told.

Pure. The services read the same settings here as anywhere; only their values are a laptop's.
"""

import json
from collections.abc import Mapping

from services.local import identities
from services.local.addresses import Addresses, Service
from services.local.state import StateDirectory

Environment = Mapping[str, str]


def environment(
    service: Service,
    *,
    state: StateDirectory,
    addresses: Addresses,
    inherited: Environment,
    overrides: Environment,
) -> Environment:
    """The whole environment of `service`: the machine's without any setting of Anvil's, and ours.

    `overrides` wins over what is set here; settings that a service does not know are ignored by it.
    """
    machine = {name: value for name, value in inherited.items() if not name.startswith("ANVIL_")}
    shared = _shared(state, addresses)
    match service:
        case Service.INGRESS:
            own = _ingress(state, addresses)
        case Service.COORDINATOR:
            own = _coordinator(state, addresses)
        case Service.RUNNER:
            own = _runner(state, addresses)
        case Service.PLATFORM:
            own = _platform(state, addresses)
    return {**machine, **shared, **own, **overrides}


def _shared(state: StateDirectory, addresses: Addresses) -> Environment:
    return {
        "ANVIL_ENVIRONMENT": "dev",
        "ANVIL_NAMESPACE": "local",
        "ANVIL_ISSUER": identities.ISSUER,
        "ANVIL_JWKS_URL": f"{addresses.url(Service.PLATFORM)}/jwks",
        "ANVIL_LOCAL_KEY_FILE": str(state.issuer_key),
    }


def _ingress(state: StateDirectory, addresses: Addresses) -> Environment:
    return {
        "ANVIL_AUDIENCE": identities.INGRESS_AUDIENCE,
        "ANVIL_HOOKS_EMAIL": identities.HOOKS,
        "ANVIL_SERVICE_EMAIL": identities.CONSOLE,
        "ANVIL_COORDINATOR_URL": addresses.url(Service.COORDINATOR),
        "ANVIL_COORDINATOR_AUDIENCE": identities.COORDINATOR_AUDIENCE,
        "ANVIL_PUBLIC_URL": addresses.url(Service.INGRESS),
        "ANVIL_WEBHOOK_KEYRING_FILE": str(state.webhook_keyring),
        "ANVIL_ROLES_FILE": str(state.roles),
        "ANVIL_ALLOW_LOCAL_REPOSITORIES": "true",
    }


def _coordinator(state: StateDirectory, addresses: Addresses) -> Environment:
    return {
        "ANVIL_AUDIENCE": identities.COORDINATOR_AUDIENCE,
        "ANVIL_SERVICE_EMAIL": identities.COORDINATOR,
        "ANVIL_STORE": "sqlite",
        "ANVIL_SQLITE_PATH": str(state.store),
        "ANVIL_LEDGER": "sqlite",
        "ANVIL_OPERATIONS_FILE": str(state.operations),
        "ANVIL_CREDENTIALS_DIR": str(state.credentials),
        "ANVIL_ALLOW_LOCAL_UPSTREAMS": "true",
        "ANVIL_TASKS": "local",
        "ANVIL_TASKS_URL": addresses.url(Service.PLATFORM),
        "ANVIL_TASKS_AUDIENCE": identities.PLATFORM_AUDIENCE,
        "ANVIL_RUNNER_AUDIENCE": identities.RUNNER_AUDIENCE,
        "ANVIL_HOOKS_CALLERS": json.dumps([identities.HOOKS]),
        "ANVIL_CONSOLE_CALLERS": json.dumps([identities.CONSOLE]),
        "ANVIL_RUNNER_CALLERS": json.dumps([identities.RUNNER]),
        "ANVIL_TASKS_CALLERS": json.dumps([identities.TASKS]),
        "ANVIL_SCHEDULER_CALLERS": json.dumps([identities.SCHEDULER]),
    }


def _runner(state: StateDirectory, addresses: Addresses) -> Environment:
    return {
        "ANVIL_AUDIENCE": identities.RUNNER_AUDIENCE,
        "ANVIL_SERVICE_EMAIL": identities.RUNNER,
        "ANVIL_COORDINATOR_URL": addresses.url(Service.COORDINATOR),
        "ANVIL_COORDINATOR_AUDIENCE": identities.COORDINATOR_AUDIENCE,
        "ANVIL_TASKS_CALLERS": json.dumps([identities.TASKS]),
        "ANVIL_WORK_DIR": str(state.work),
        # So that a cancel is heard within two seconds at any age of a run.
        "ANVIL_HEARTBEAT_SECONDS": "2",
        "ANVIL_SANDBOX": "process",
        "ANVIL_ALLOW_LOCAL_REPOSITORIES": "true",
    }


def _platform(state: StateDirectory, addresses: Addresses) -> Environment:
    return {
        "ANVIL_AUDIENCE": identities.PLATFORM_AUDIENCE,
        "ANVIL_SERVICE_EMAIL": identities.TASKS,
        "ANVIL_ISSUER_KEY_FILE": str(state.issuer_key),
        "ANVIL_TASKS_PATH": str(state.tasks),
        "ANVIL_COORDINATOR_URL": addresses.url(Service.COORDINATOR),
        "ANVIL_COORDINATOR_AUDIENCE": identities.COORDINATOR_AUDIENCE,
        "ANVIL_RUNNER_URL": addresses.url(Service.RUNNER),
        "ANVIL_RUNNER_AUDIENCE": identities.RUNNER_AUDIENCE,
        "ANVIL_TASKS_CALLERS": json.dumps([identities.COORDINATOR]),
    }
