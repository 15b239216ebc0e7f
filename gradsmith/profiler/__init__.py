"""Profiler: which ops and nodes ran, for how long, and nested in which others. See docs/guide/profiler.md."""

from typing import Any

from gradsmith.profiler.schedules import ProfilerAction, schedule
from gradsmith.profiler.session import ProfilerActivity, profile, supported_activities, tensorboard_trace_handler
from gradsmith.runtime.observers.recorder import record_function

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
