"""The walls around untrusted commands."""

from services.runner.sandbox.port import (
    Command,
    GuardGone,
    Launch,
    Launcher,
    NotStarted,
    Sandbox,
    TeardownFailed,
    Workspace,
)

__all__ = ["Command", "GuardGone", "Launch", "Launcher", "NotStarted", "Sandbox", "TeardownFailed", "Workspace"]
