"""The in-place, the out= and the copying form: the numbers and the derivatives of the plain one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from .. import numeric
from ..calls import as_out, call_function, call_in_place, changed_by, outputs_of
from ..references.refusals import REFUSALS
from ..samples import array_of, as_tensors, at, leaves_among, places_of, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..case import Setting, Subject
    from ..proof import Proof
    from ..samples import Array, Values

SAME = 1e-11


def check(subject: Subject, proof: Proof) -> None:
    forms = subject.row.forms
    for setting in subject.settings():
        if ("inplace" in forms or subject.row.base.endswith("_")) and fits_in_place(setting):
            check_written_value(setting, proof)
            check_shared_memory(setting, proof)
            if setting.places:
                check_written_gradients(setting, proof)
        if len(changed_by(subject.row)) > 1:
            check_several_written(setting, proof)
        if "out" in forms:
            check_out(setting, proof)
        if "copy" in forms:
            check_copy(setting, proof)


# ---- in place


def fits_in_place(setting: Setting) -> bool:
    """Whether the result can be written into the first argument. A view is not written: the argument becomes it.

    Magnitudes and the like are not written into the complex numbers that they are of.
    """
    target = setting.values.get("self")
    if len(changed_by(setting.subject.row)) > 1:
        return False  # see check_several_written
    if not isinstance(target, np.ndarray) or setting.subject.row.is_view:
        return isinstance(target, np.ndarray)
    (result,) = setting.results()
    if target.dtype.kind == "c" and result.dtype.kind == "f":
        return False
    return result.shape == target.shape and np.can_cast(result.dtype, target.dtype, "same_kind")


def write(setting: Setting, tensors: Values) -> Any:
    return call_in_place(setting.subject.row, tensors, setting.subject.module)


def check_written_value(setting: Setting, proof: Proof) -> None:
    (expected,) = setting.results()
    tensors = as_tensors(setting.values)
    target = tensors["self"]
    same = write(setting, tensors) is target
    proof.expect("in-place", "the in-place form", setting.label, "" if same else "does not give back its tensor")
    proof.compare("in-place", "value in place", setting.label, array_of(target), expected.astype(target.dtype), 0)
    for place, array in places_of(setting.values):
        if place != ("self",):
            found = array_of(at(tensors, place))
            proof.compare("in-place", f"input {place[0]!r} after a write in place", setting.label, found, array, 0)


def check_shared_memory(setting: Setting, proof: Proof) -> None:
    """An argument whose memory is written is refused, or read as it was: the target itself, or what lies beside it."""
    target = setting.values["self"]
    memory = np.concatenate([target.ravel()[-1:], target.ravel(), target.ravel()[:1]])
    for place, array in places_of(setting.values):
        if place == ("self",) or array.dtype != target.dtype or not 0 < array.size <= target.size:
            continue
        for start in range(3) if array.shape == target.shape else (0, 2):
            part = slice(start, start + array.size)
            values = replaced(setting.values, {place: memory[part].reshape(array.shape)})
            base = gs.tensor(memory)
            written, other = base[1:-1].view(target.shape), base[part].view(array.shape)
            try:
                (expected,) = setting.results(values)
                write(setting, replaced({**as_tensors(values), "self": written}, {place: other}))
            except REFUSALS:
                continue
            name = f"value in place, where {place[0]!r} is {'the same' if start == 1 else 'in that'} memory"
            proof.compare("in-place", name, setting.label, array_of(written), expected.astype(target.dtype), SAME)


def check_written_gradients(setting: Setting, proof: Proof) -> None:
    """Of a tensor with a history that is overwritten, and of the base of a view that is."""
    compare_derivatives(setting, proof, "in place", lambda x: (y := x * 1, y), lambda x, result: result)
    if setting.subject.row.is_view:
        return  # the base of a view that becomes another one stays as it is

    def base_and_view(x: Any) -> tuple[Any, Any]:
        base = gs.stack([x * 2, x])
        return base, base[1]

    compare_derivatives(
        setting, proof, "in place, through a view", base_and_view, lambda x, result: gs.stack([x * 2, result])
    )


def compare_derivatives(
    setting: Setting,
    proof: Proof,
    how: str,
    target_of: Callable[[Any], tuple[Any, Any]],
    root_of: Callable[[Any, Any], Any],
) -> None:
    """`target_of` gives what is looked at and what is written; `root_of` puts a plain result where that would be."""
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    root, target = target_of(tensors["self"])
    write(setting, {**tensors, "self": target})
    plain = as_tensors(setting.values)
    plain_leaves = leaves_among(plain, setting.places)
    (result,) = setting.subject.call(plain)
    expected_root = root_of(plain["self"], result.to(plain["self"].dtype))
    found, expected = (derivatives(*pair, setting.case.id) for pair in ((root, leaves), (expected_root, plain_leaves)))
    for number, (one, other) in enumerate(zip(found, expected)):
        order = "gradient" if number < len(leaves) else "gradient of the gradient"
        proof.compare("in-place", f"{order} {how}", setting.label, one, other, SAME)


def derivatives(root: Any, leaves: list[Any], label: str) -> list[Array]:
    """First and second derivatives of a fixed function of the root."""
    (weights,) = numeric.weights_like([array_of(root)], label)
    firsts = grad(root, leaves, gs.tensor(weights), create_graph=True, materialize_grads=True)
    total = sum((first * first.conj()).real.sum() for first in firsts)
    seconds = grad(total, leaves, materialize_grads=True) if total.requires_grad else ()
    return [array_of(g) for g in (*firsts, *seconds)]


def check_several_written(setting: Setting, proof: Proof) -> None:
    """The results are the arguments, which have the new values; what is not to be changed stays."""
    names = changed_by(setting.subject.row)
    tensors = as_tensors(setting.values)
    results = outputs_of(write(setting, tensors))
    same = all(result is tensors[name] for result, name in zip(results, names))
    proof.expect("in-place", "the results", setting.label, "" if same else f"are not {' and '.join(names)} themselves")
    for name, expected in zip(names, setting.results()):
        proof.compare("in-place", f"{name!r} as written", setting.label, array_of(tensors[name]), expected, 0)
    for place, array in places_of(setting.values):
        if place[0] not in names:
            found = array_of(at(tensors, place))
            proof.compare("in-place", f"input {place[0]!r} after a write in place", setting.label, found, array, 0)


# ---- out=


def check_out(setting: Setting, proof: Proof) -> None:
    expected = setting.results()
    given = [gs.tensor(np.full(part.shape, 7).astype(part.dtype)) for part in expected]
    found = outputs_of(into(setting, as_tensors(setting.values), given))
    same = len(found) == len(given) and all(one is other for one, other in zip(found, given))
    proof.expect("out", "the form with out=", setting.label, "" if same else "does not give back what it was given")
    for written, part in zip(given, expected):
        proof.compare("out", "value written into out=", setting.label, array_of(written), part, 0)
    if setting.places:
        check_out_is_refused(setting, given, proof)


def into(setting: Setting, tensors: Values, given: list[Any]) -> Any:
    return call_function(setting.subject.row, tensors, module=setting.subject.module, out=as_out(given))


def check_out_is_refused(setting: Setting, given: list[Any], proof: Proof) -> None:
    """A graph through a given tensor would be lost: the op has to refuse."""
    tensors = as_tensors(setting.values)
    leaves_among(tensors, setting.places)
    try:
        into(setting, tensors, given)
    except RuntimeError:
        problem = ""
    else:
        problem = "was taken although an input requires grad"
    proof.expect("out", "out= beside an input that requires grad", setting.label, problem)


# ---- copies of views


def check_copy(setting: Setting, proof: Proof) -> None:
    tensors = as_tensors(setting.values)
    for copy, expected in zip(copies(setting, tensors), setting.results()):
        inputs = [array_of(tensor) for tensor in tensors.values() if isinstance(tensor, gs.Tensor)]
        shares = any(np.shares_memory(array_of(copy), array) for array in inputs)
        proof.expect("copy", "the memory of a copy", setting.label, "is the input's" if shares else "")
        proof.compare("copy", "value of a copy", setting.label, array_of(copy), expected, 0)
    if setting.places:
        check_copied_gradients(setting, proof)


def copies(setting: Setting, tensors: Values) -> list[Any]:
    row = setting.subject.row
    return outputs_of(call_function(row, tensors, name=f"{row.base}_copy", module=setting.subject.module))


def check_copied_gradients(setting: Setting, proof: Proof) -> None:
    """A copy is differentiated as its view is, twice too."""
    found, expected = (
        derivatives_of_squares(setting, call) for call in (lambda t: copies(setting, t), setting.subject.call)
    )
    for one, other in zip(found, expected):
        proof.compare("copy", "gradient of a copy", setting.label, one, other, SAME)


def derivatives_of_squares(setting: Setting, call: Callable[[Values], list[Any]]) -> list[Array]:
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    squares = sum((result * result).sum() for result in setting.subject.differentiable(call(tensors)))
    return derivatives(squares, leaves, setting.case.id)
