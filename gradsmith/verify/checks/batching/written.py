"""Writes inside of a mapped function: in-place forms, on a tensor and through a view of it, and writes to views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradsmith as gs

from ...samples import replaced
from ..forms import fits_in_place, write
from .batch import ONCE, batches_of, compare
from .derivatives import inputs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Values
    from .batch import Function


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.settings():
        functions = list(functions_of(setting))
        for batch in batches_of(setting) if functions else ():
            if ("self",) not in batch.places:
                continue
            for name, function in functions:
                compare(name, function, batch, proof, ONCE)
                if setting.places:
                    compare(f"gradients of {name}", gradients_of(setting, function), batch, proof, ONCE)


def functions_of(setting: Setting) -> list[tuple[str, Function]]:
    row = setting.subject.row
    found: list[tuple[str, Function]] = []
    if ("inplace" in row.forms or row.base.endswith("_")) and fits_in_place(setting):
        found.append(("what is written in place in a batch", lambda values: written(setting, values)))
        if not row.is_view:
            found.append(("what is written through a view in a batch", lambda values: through_view(setting, values)))
    if row.is_view:
        found.append(("what is written into a view in a batch", lambda values: into_view(setting, values)))
    return found


def written(setting: Setting, values: Values) -> Sequence[Any]:
    target = values["self"].clone()
    write(setting, {**values, "self": target})
    return [target]


def through_view(setting: Setting, values: Values) -> Sequence[Any]:
    base = gs.stack([values["self"], values["self"]])
    write(setting, {**values, "self": base[1]})
    return [base]


def into_view(setting: Setting, values: Values) -> Sequence[Any]:
    base = values["self"].clone()
    views = setting.subject.call({**values, "self": base})
    for number, view in enumerate(views):
        view.mul_(number + 2)
    return [base, *views]


def gradients_of(setting: Setting, function: Function) -> Callable[[Values], Sequence[Any]]:
    """Of the sum of all squares of what the function gives."""

    def gradients(values: Values) -> Sequence[Any]:
        def total(*parts: Any) -> Any:
            results = function(replaced(values, dict(zip(setting.places, parts))))
            return sum((result * result.conj()).real.sum() for result in results)

        inputs = inputs_of(setting, values)
        return list(gs.func.grad(total, argnums=tuple(range(len(inputs))))(*inputs))

    return gradients
