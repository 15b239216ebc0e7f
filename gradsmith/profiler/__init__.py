"""Profiler: which ops and nodes ran, for how long, and nested in which others. See docs/guide/profiler.md."""

from typing import Any

from gradsmith.profiler.schedules import ProfilerAction, schedule
from gradsmith.profiler.session import ProfilerActivity, profile, supported_activities, tensorboard_trace_handler
from gradsmith.runtime.observers.recorder import record_function

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def kineto_available() -> bool:
    """Whether `profile` records with schedules and traces: always. PyTorch asks for the library that does it there."""
    return True


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
