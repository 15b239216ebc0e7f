from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from typing_extensions import Self

from gradsmith.runtime.history.observers import Observer

_Function = TypeVar("_Function", bound=Callable[..., Any])

class Span:
    kind: str
    name: str
    start: int
    end: int
    parent: Span | None
    thread: int
    sequence_nr: int
    shapes: tuple[Any, ...] | None
    result_shapes: Any
    stack: tuple[str, ...] | None
    arguments: Any
    memory: int
    memory_after: int
    failed: bool

class Recorder(Observer):
    spans: list[Span]
    def __init__(
        self, *, record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False
    ) -> None: ...
    def take(self) -> list[Span]: ...
    def close_all(self) -> None: ...

class record_function:
    name: str
    args: str | None
    def __init__(self, name: str, args: str | None = None) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __call__(self, function: _Function) -> _Function: ...
