"""Serves endpoint declarations: parses, guards, answers, and writes errors as problem documents."""

from services.kernel.web.application import application
from services.kernel.web.body import read_body
from services.kernel.web.openapi import openapi
from services.kernel.web.serving import ANONYMOUS, Answer, Call, Caller, Guard, Served, raw, route

__all__ = [
    "ANONYMOUS",
    "Answer",
    "Call",
    "Caller",
    "Guard",
    "Served",
    "application",
    "openapi",
    "raw",
    "read_body",
    "route",
]
