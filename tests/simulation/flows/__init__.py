"""Every flow that the suite kills, stops and disturbs: the files of this folder, of which each is about one thing.

A flow is declared where it is written, with `@flow`; a file that is put here is found.
"""

import importlib
import pkgutil

from tests.simulation.flows.flow import Flow, declared, flow

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

FLOWS: dict[str, Flow] = declared()
"""By name, in the order of their numbers."""

__all__ = ["FLOWS", "Flow", "flow"]
