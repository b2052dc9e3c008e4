"""Where Google's Firestore emulator is on this machine: a component of gcloud, a jar, or an image for Docker."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

JAR = "cloud-firestore-emulator.jar"
MAIN = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
IMAGE = "google/cloud-sdk:emulators"

ADVICE = """\
There is no Firestore emulator here. Any of these makes one:
  FIRESTORE_EMULATOR_HOST=host:port                   one that runs already
  gcloud components install cloud-firestore-emulator  needs Java too
  a folder beside this repository with tools/cloud-firestore-emulator.jar, and Java
  Docker, running"""

_ROOT = Path(__file__).resolve().parents[3]


def command(port: int) -> list[str] | None:
    """What starts the emulator at a port of loopback; None where there is none."""
    if shutil.which("java") and (jar := next(_jars(), None)):
        # Its messages are read here, so they must be in English.
        java = ["java", "-Duser.language=en", "-Xmx1g", "-cp", str(jar), MAIN]
        return [*java, "--host=127.0.0.1", f"--port={port}"]
    if _docker_runs():
        started = ["gcloud", "emulators", "firestore", "start", "--host-port=0.0.0.0:8080"]
        return ["docker", "run", "--rm", "--init", "--publish", f"127.0.0.1:{port}:8080", IMAGE, *started]
    return None


def _jars() -> Iterator[Path]:
    if gcloud := shutil.which("gcloud"):
        yield from Path(gcloud).resolve().parents[1].glob(f"platform/cloud-firestore-emulator/{JAR}")
        yield from Path(_sdk_root()).glob(f"platform/cloud-firestore-emulator/{JAR}")
    yield from _ROOT.parent.glob(f"*/tools/{JAR}")


def _sdk_root() -> str:
    asked = ["gcloud", "info", "--format=value(installation.sdk_root)"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def _docker_runs() -> bool:
    if not shutil.which("docker"):
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
