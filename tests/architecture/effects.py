"""Effects and the only places that may have them: everything else gets them through `kernel.ports`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.architecture import names
from tests.architecture.tree import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`forbidden` names (and all under them), and the paths that may use them."""

    title: str
    forbidden: frozenset[str]
    methods: frozenset[str] = frozenset()
    places: tuple[str, ...]

    def allows(self, path: str) -> bool:
        return any(fnmatchcase(path, place) for place in self.places)


COMPOSITION = ("services/kernel/adapters/*", "services/*/main.py", "services/local/*")

RULES = (
    Rule(
        title="time comes from the Clock",
        forbidden=frozenset(
            {
                "anyio.sleep",
                "anyio.sleep_until",
                "asyncio.sleep",
                "datetime.date.today",
                "datetime.datetime.now",
                "datetime.datetime.today",
                "datetime.datetime.utcnow",
                "time",
            }
        ),
        places=(
            *COMPOSITION,
            "services/cli/*",
            "services/runner/sandbox/guard/program.py",  # A process of its own, from the standard library alone.
        ),
    ),
    Rule(
        title="randomness comes from Ids",
        forbidden=frozenset({"os.getrandom", "os.urandom", "random", "secrets", "uuid", "uuid_utils"}),
        places=(*COMPOSITION, "services/cli/*"),
    ),
    Rule(
        title="no threads",
        forbidden=frozenset(
            {
                "_thread",
                "anyio.from_thread",
                "anyio.to_thread",
                "asyncio.to_thread",
                "concurrent.futures",
                "multiprocessing",
                "starlette.concurrency",
                "threading",
            }
        ),
        methods=frozenset({"run_in_executor"}),
        places=(*COMPOSITION, "services/cli/*"),
    ),
    Rule(
        title="processes are started by checkout, sandbox and the local stack",
        forbidden=frozenset(
            {
                "anyio.open_process",
                "anyio.run_process",
                "asyncio.create_subprocess_exec",
                "asyncio.create_subprocess_shell",
                "asyncio.subprocess",
                "os.fork",
                "os.forkpty",
                "os.popen",
                "os.posix_spawn",
                "os.posix_spawnp",
                "os.system",
                "pty",
                "subprocess",
            }
        ),
        methods=frozenset({"subprocess_exec", "subprocess_shell"}),
        places=(
            "services/runner/checkout.py",
            "services/runner/checkout/*",
            "services/runner/sandbox/*",
            "services/local/*",
            "services/cli/gcloud.py",  # A person's identity token comes from gcloud, which is a command.
        ),
    ),
    Rule(
        title="the environment is read by main",
        forbidden=frozenset({"os.environ", "os.environb", "os.getenv"}),
        places=("services/*/main.py", "services/local/*"),
    ),
    Rule(title="Any is for adapters", forbidden=frozenset({"typing.Any"}), places=("services/kernel/adapters/*",)),
)


def violations(sources: Iterable[Source]) -> Iterator[str]:
    """Each use in a place that may not have it: path, line, name, rule."""
    for source in sources:
        found = {*names.imported(source.module), *names.used(source.module)}
        for rule in RULES:
            if not rule.allows(source.path):
                yield from (
                    f"{source.path}:{line}: {name}: {rule.title}"
                    for line, name in sorted(found)
                    if names.within(name, rule.forbidden) or name.rpartition(".")[2] in rule.methods
                )
