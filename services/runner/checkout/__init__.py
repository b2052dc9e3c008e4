"""Exactly one commit of somebody else's repository, by a git that is told to trust nothing in it (docs/security.md)."""

from services.runner.checkout.commit import checkout
from services.runner.checkout.git import Git
from services.runner.checkout.source import CheckoutFailed, Source
from services.runner.checkout.tree import read_config, remarks

__all__ = ["CheckoutFailed", "Git", "Source", "checkout", "read_config", "remarks"]
