"""An entry under proof: how to call it, and how to differentiate a call of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from .calls import Results, call, outputs_of
from .numeric import loss, weights_like
from .references.expected import surrogate_results
from .references.refusals import REFUSALS
from .samples import Case, array_of, as_tensors, cases_of, leaves_among, replaced

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

    from .samples import Array, Place, Values
    from .variations import Neighbour

REAL, COMPLEX = "float64", "complex128"
ALL_SUBSETS = 4  # results of which every subset is tried


@dataclass(frozen=True)
class Setting:
    """The arguments of one call, where they came from, and which of them have a gradient."""

    subject: Subject
    case: Case
    values: Values
    dtype: str
    remark: str = ""  # what is special about the values

    @property
    def label(self) -> str:
        sample = ", ".join(f"{name}: {text}" for name, text in self.case.row.samples[self.case.number].items())
        words = [f"sample {self.case.number}", self.dtype, *([self.remark] if self.remark else [])]
        return f"{', '.join(words)}: {{{sample}}}"

    @property
    def places(self) -> tuple[Place, ...]:
        """Places of the tensors that have a gradient; none where the entry says that nobody has worked it out."""
        return () if self.case.inputs and self.is_refused else self.case.inputs

    @property
    def is_refused(self) -> bool:
        row = self.case.row
        if not (row.is_composite or any("not_implemented(" in formula for _, formula in row.gradients)):
            return False
        tensors = as_tensors(self.values)
        leaves = leaves_among(tensors, self.case.inputs)
        if not leaves:
            return False
        try:
            grad(self.roots(tensors), leaves, [gs.tensor(w) for w in self.weights()], materialize_grads=True)
        except NotImplementedError:
            return True
        except REFUSALS:  # a gradient that cannot be computed is wrong, but not left out
            return False
        return False

    def with_values(self, values: Values, remark: str) -> Setting:
        return Setting(self.subject, self.case, values, self.dtype, remark)

    def redrawn(self, draw: int) -> Values:
        """The values with other numbers, as the sample has them."""
        return self.case.values(self.dtype, draw=draw)

    def results(self, values: Values | None = None) -> Results:
        """All results of the op, as arrays, of a call that records nothing."""
        tensors = as_tensors(self.values if values is None else values)
        return self.subject.call(tensors).made(array_of)

    def roots(self, tensors: Values) -> list[Any]:
        """The results that have a gradient."""
        return self.subject.differentiable(self.subject.call(tensors))

    def root_arrays(self, values: Values | None = None) -> list[Array]:
        return self.subject.differentiable(self.results(values))

    def differentiated(self, values: Values | None = None) -> list[Array]:
        """The function that the gradients differentiate: the results, or the `surrogate` of the entry."""
        if not self.subject.row.surrogate:
            return self.root_arrays(values)
        return self.subject.differentiable(
            surrogate_results(self.subject.row, self.values if values is None else values)
        )

    def weights(self) -> list[Array]:
        """Gradients of the results, the same in every run."""
        return weights_like(self.root_arrays(), self.case.id)

    def loss_at(self, place: Place, weights: Sequence[Array]) -> Callable[[Array], float]:
        """The loss as a function of the array at one place."""
        return lambda array: loss(self.differentiated(replaced(self.values, {place: array})), weights)

    def moved_roots(self, place: Place, array: Array) -> list[Array]:
        """The differentiable results with another array at one place."""
        return self.root_arrays(replaced(self.values, {place: array}))

    def flat_at(self, place: Place) -> Callable[[Array], Array]:
        """All differentiable results in one row, as a function of the array at one place."""

        def function(array: Array) -> Array:
            parts = self.differentiated(replaced(self.values, {place: array}))
            return np.concatenate([part.ravel() for part in parts])

        return function

    def gradients(self, weights: Sequence[Array], places: Iterable[Place] | None = None) -> list[Array]:
        found, _, _ = self.recorded_gradients(weights, places, create_graph=False)
        return [array_of(gradient) for gradient in found]

    def recorded_gradients(
        self, weights: Sequence[Array], places: Iterable[Place] | None = None, *, create_graph: bool = True
    ) -> tuple[tuple[Any, ...], list[Any], list[Any]]:
        """Gradients as tensors, zeros for None, and the leaves and the weights that they depend on."""
        tensors = as_tensors(self.values)
        leaves = leaves_among(tensors, self.places if places is None else places)
        given = [gs.tensor(w, requires_grad=create_graph) for w in weights]
        reached = [pair for pair in zip(self.roots(tensors), given) if pair[0].requires_grad]
        roots, arriving = zip(*reached) if reached else (self.roots(tensors), given)
        found = grad(roots, leaves, arriving, create_graph=create_graph, materialize_grads=True)
        return found, leaves, given


class Subject:
    """A row of the table, and the module in which its functions are."""

    def __init__(self, row: OpRow, module: ModuleType = gs) -> None:
        self.row = row
        self.module = module
        self.cases = cases_of(row)
        self.neighbours: list[Neighbour] | None = None  # variations of the samples, see variations.py
        self.elementwise: dict[int, bool] = {}  # by number of the sample, see checks/other_calls/elementwise.py

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (REAL, COMPLEX) if self.row.complex else (REAL,)

    def call(self, tensors: Values) -> Results:
        return outputs_of(call(self.row, tensors, self.module), self.row.result_types)

    def differentiable(self, results: Sequence[Any]) -> list[Any]:
        return [result for result, is_wanted in zip(results, self.are_wanted(results)) if is_wanted]

    def are_wanted(self, results: Sequence[Any]) -> list[bool]:
        """Which of the results have a gradient."""
        wanted = self.row.outputs
        if self.row.result_types and isinstance(results, Results):
            return [wanted[number] for number in results.outputs]
        return [len(wanted) != len(results) or wanted[number] for number in range(len(results))]

    def constant(self, results: Sequence[Any]) -> list[Any]:
        """The results that have no gradient."""
        return [result for result, is_wanted in zip(results, self.are_wanted(results)) if not is_wanted]

    def setting(self, case: Case, dtype: str = REAL) -> Setting:
        return Setting(self, case, case.values(dtype), dtype)

    def settings(self, dtypes: Iterable[str] | None = None) -> Iterator[Setting]:
        """Every sample in every dtype that the op takes."""
        for case in self.cases:
            for dtype in self.dtypes if dtypes is None else dtypes:
                yield self.setting(case, dtype)

    def differentiable_settings(self, dtypes: Iterable[str] | None = None) -> Iterator[Setting]:
        return (setting for setting in self.settings(dtypes) if setting.places)


def some_used(count: int) -> Iterator[frozenset[int]]:
    """Numbers of the results that a loss uses, where it leaves some of them out; of many, all but one and one alone."""
    sizes = range(1, count) if count <= ALL_SUBSETS else (1, count - 1)
    return (frozenset(numbers) for size in sizes for numbers in combinations(range(count), size))
