"""What is left out while worlds are made and ended by the thousand, and how a part is put in another's place."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager

import structlog
from structlog.typing import EventDict, WrappedLogger


@contextmanager
def replaced(owner: object, name: str, value: object) -> Generator[None]:
    """Something else in the place of a module's or a class's part, for the block alone."""
    original = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)


@contextmanager
def quiet() -> Generator[None]:
    """No log, and no API description made anew for every life of an instance: these are most of what it costs."""
    before = structlog.get_config()
    structlog.configure(processors=[_dropped], cache_logger_on_first_use=False)
    try:
        with replaced(importlib.import_module("services.kernel.web.application"), "openapi", _undescribed):
            yield
    finally:
        structlog.configure(**before)


def _dropped(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    raise structlog.DropEvent


def _undescribed(*_: object) -> dict[str, object]:
    return {}
