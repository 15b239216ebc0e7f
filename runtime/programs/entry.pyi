from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.runtime.programs.program import Program
from gradsmith.runtime.programs.reads import Read
from gradsmith.runtime.programs.recorded import Recorder, UsedUp
from gradsmith.runtime.programs.snapshots import Snapshot

NO_MATCH: object

def exchange_memory(one: Any, other: Any) -> None: ...
def exchange_hooks(leaf: Any, hooks: Any) -> Any: ...
def exchange_gradients(params: tuple[Any, ...], gradients: tuple[Any, ...]) -> tuple[Any, ...]: ...
def called(entries: list[Entry], args: tuple[Any, ...]) -> Any: ...

class Entry:
    def __init__(
        self,
        leaves: Sequence[Any],
        captured: Sequence[Any],
        program: Program,
        sources: list[Any],
        results: list[tuple[str, Any]],
        make: Callable[[list[Any]], Any] | None,
        reads: list[Read | Snapshot],
        had: list[tuple[Any, Any]],
        gradients: list[tuple[Any, int | None]],
        writes: bool,
        recorder: Recorder | None = None,
        generators: Sequence[Any] = (),
        guarded: Sequence[Any] | None = None,
        plain: Sequence[int] = (),
        used_up: Sequence[UsedUp] = (),
    ) -> None: ...
    def call(self, leaves: Sequence[Any]) -> Any: ...
