"""Lists of events, and what is made of them: averages, tables, files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from gradsmith.profiler.averages import FunctionEventAvg, averages_of, total_of
from gradsmith.profiler.events import FunctionEvent
from gradsmith.profiler.options import Options
from gradsmith.profiler.stacks import write_stacks
from gradsmith.profiler.table import table_of
from gradsmith.profiler.trace import write_trace

_Row = TypeVar("_Row", FunctionEvent, FunctionEventAvg)


class _Rows(list[_Row]):
    """Common base of lists of events and of averages."""

    def __init__(self, rows: Iterable[Any] = (), options: Options | None = None) -> None:
        super().__init__(rows)
        self._options = options or Options()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds that all of them took, each moment counted once."""
        return sum(row.self_cpu_time_total for row in self)

    def total_average(self) -> FunctionEventAvg:
        """One average of all.

        Returns
        -------
        FunctionEventAvg
            Its key is "Total".
        """
        return total_of(self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The list as text.

        Parameters
        ----------
        sort_by : str, optional
            The attribute to sort by, largest first: one of "cpu_time", "cpu_time_total", "self_cpu_time_total",
            "cpu_memory_usage", "self_cpu_memory_usage", "count", "flops".
        row_limit : int
            How many rows to show; -1 for all.
        max_src_column_width, max_name_column_width, max_shapes_column_width : int
            Longer cells are cut; -1 for no limit.
        header : str, optional
            A line above.
        top_level_events_only : bool
            Leave out events inside others. Averages are shown all the same: ask the events for this table.

        Raises
        ------
        AttributeError
            There is no such key to sort by.
        """
        return table_of(
            self,
            self._options,
            sort_by=sort_by,
            row_limit=row_limit,
            header=header,
            top_level_events_only=top_level_events_only,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            max_src_column_width=max_src_column_width,
        )

    def __str__(self) -> str:
        return self.table()


class AverageList(_Rows[FunctionEventAvg]):
    """Averages, in the order in which their first events began."""


class EventList(_Rows[FunctionEvent]):
    """Events in the order in which they began."""

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> AverageList:
        """Events of the same name summed.

        Parameters
        ----------
        group_by_input_shapes : bool
            Only those with operands of the same shapes.
        group_by_stack_n : int
            Only those whose innermost `group_by_stack_n` lines of the stack are the same.

        Raises
        ------
        ValueError
            What to group by was not recorded.
        """
        if group_by_input_shapes and not self._options.record_shapes:
            raise ValueError("key_averages(): shapes were not recorded; ask for them by profile(record_shapes=True)")
        if group_by_stack_n and not self._options.with_stack:
            raise ValueError("key_averages(): stacks were not recorded; ask for them by profile(with_stack=True)")
        return AverageList(averages_of(self, group_by_input_shapes, group_by_stack_n), self._options)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a file that Perfetto and Chrome's ``chrome://tracing`` open.

        Parameters
        ----------
        path : str or path
            Compressed when it ends in ".gz".
        """
        write_trace(path, self, self._options)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write the stacks with a number for each, as programs that draw flame graphs take it.

        Parameters
        ----------
        path : str or path
        metric : str
            The attribute that is the number: "self_cpu_time_total" or "self_cpu_memory_usage".

        Raises
        ------
        ValueError
            There is no such metric, or stacks were not recorded.
        """
        write_stacks(path, self, self._options, metric)
