"""Programs that have been loaded."""

from __future__ import annotations

from typing import Any

from gradsmith.compiler.compiled import Compiled
from gradsmith.compiler.options import Options
from gradsmith.generated.tensor import Tensor
from gradsmith.graph.saved.accepting import Accepting
from gradsmith.graph.saved.document import Document, Result
from gradsmith.graph.saved.replay import Replay
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.runtime.tensors.factories.creation import over_array


class LoadedProgram:
    """A function that `load` has read from a file: it takes arguments like those that it was saved with.

    It is compiled when it is first called, like any other function, and its programs are kept for the calls to come.
    What it writes to tensors that the function captured stays with it.
    """

    def __init__(self, document: Document) -> None:
        self.__name__ = self.__qualname__ = document.name
        self._document = document
        self._compiled = Compiled(Function(document), Options())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def __repr__(self) -> str:
        kinds = [str(one.kind or repr(one.plain)) for one in self._document.arguments]
        return f"<program {self.__name__} of {len(self._document.forward)} ops: {', '.join(kinds) or 'no arguments'}>"

    @property
    def programs(self) -> list[Any]:
        """Those of the compiled function, one for each layout of the arguments."""
        return self._compiled.programs

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """The steps of the program for these arguments, which is made if need be, as text."""
        return self._compiled.explain(*args, **kwargs)


class Function:
    """A document as a function, which calls its ops one after the other."""

    def __init__(self, document: Document) -> None:
        self.__name__ = document.name
        self.document, self.accepting = document, Accepting(document)
        self.replay = Replay(document, [over_array(one.array) for one in document.stored])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = self.accepting.leaves_of(args, kwargs)
        numbered = {one.value: leaf for one, leaf in zip(self.document.arguments, leaves) if one.kind is not None}
        tensors = [numbered[number] for number in range(len(numbered))]
        is_recorded = is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        values = self.replay.recorded(tensors) if is_recorded else self.replay.unrecorded(tensors)
        return self.document.result_tree.unflatten([_result(one, values, leaves) for one in self.document.results])


def _result(result: Result, values: list[Tensor], leaves: list[Any]) -> Any:
    if result.value is not None:
        return values[result.value]
    return result.plain if result.argument is None else leaves[result.argument]
