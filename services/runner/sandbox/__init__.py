"""The walls around untrusted commands."""

from services.runner.sandbox.port import Command, NotStarted, Sandbox, TeardownFailed, Workspace

__all__ = ["Command", "NotStarted", "Sandbox", "TeardownFailed", "Workspace"]
