"""The platform process: what gunicorn starts."""

from starlette.applications import Starlette

from services.kernel import log
from services.kernel.adapters.clock import SystemClock
from services.kernel.settings import load_or_exit
from services.local.platform import create
from services.local.settings import PlatformSettings


def application() -> Starlette:
    settings = load_or_exit(PlatformSettings)
    log.configure("platform", level=settings.log_level)
    return create(settings, clock=SystemClock())
