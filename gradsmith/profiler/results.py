"""Questions that a profile hands on to its list of events."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from gradsmith.profiler.event_list import AverageList, EventList

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


def of_events(
    method: Callable[Concatenate[EventList, _Arguments], _Answer],
) -> Callable[Concatenate[Results, _Arguments], _Answer]:
    """The method of `EventList`, asked of a profile."""

    @wraps(method)
    def asked(self: Results, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        return method(self._finished(), *args, **kwargs)

    return asked


class Results:
    """Base of profiles."""

    def _finished(self) -> EventList:
        """The events, or an error where there are none yet."""
        raise NotImplementedError

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> AverageList:
        """Events of the same name summed; see `EventList.key_averages`.

        Parameters
        ----------
        group_by_input_shape : bool
        group_by_stack_n : int
        """
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    export_chrome_trace = of_events(EventList.export_chrome_trace)
    export_stacks = of_events(EventList.export_stacks)
