"""The value against the entry's reference, in every inexact dtype, that the inputs stay as they were, and what
random numbers come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs

from ..references.expected import NotAvailable, expected_results
from ..references.refusals import REFUSALS
from ..samples import array_of, as_tensors, at, places_of, replaced
from ..seeds import is_generator

if TYPE_CHECKING:
    from ..calls import Results
    from ..case import Setting, Subject
    from ..proof import Proof
    from ..samples import Array, Values

PRECISION = {"float64": 1e-13, "complex128": 1e-13, "float32": 1e-5, "complex64": 1e-5}
SEEDS = 10
KINDS = {"i": "integer", "u": "integer"}
SINGLE = {"float64": "float32", "complex128": "complex64"}


def check(subject: Subject, proof: Proof) -> None:
    check_random(subject, proof)
    for setting in subject.settings():
        check_setting(setting, proof)
    for setting in subject.settings(["float64"]) if "internal" not in subject.row.forms else ():
        check_integers(setting, proof)
    for setting in subject.settings([SINGLE[dtype] for dtype in subject.dtypes]):
        check_setting(setting, proof)


def check_integers(setting: Setting, proof: Proof) -> None:
    """Integers in the place of numbers, where op and reference take them."""
    if any(isinstance(value, (float, complex)) for value in setting.values.values()):
        return  # what becomes of 1.1 among integers is a matter of taste
    wholes = {p: whole(array) for p, array in places_of(setting.values) if array.dtype.kind == "f"}
    changed = setting.with_values(replaced(setting.values, wholes), "whole numbers")
    try:
        expected = expected_results(setting.subject.row, changed.values)
        found = changed.results()
    except REFUSALS:
        return
    for result, reference in zip(found, expected):
        if (
            result.shape == reference.shape
            and result.dtype.kind == reference.dtype.kind
            and np.all(np.isfinite(reference))
        ):
            proof.compare("value", "value of integers", changed.label, result, reference, PRECISION["float32"])


def whole(array: Array) -> Array:
    return np.asarray(np.rint(3 * array), np.int64)


def check_setting(setting: Setting, proof: Proof, precision: float | None = None) -> None:
    tensors = as_tensors(setting.values)
    found = setting.subject.call(tensors).made(array_of)
    check_inputs_unchanged(setting, tensors, proof)
    try:
        expected = expected_results(setting.subject.row, setting.values)
    except NotAvailable as reason:
        proof.not_run["value"] = str(reason)
        return
    problem = "" if len(found) == len(expected) else f"{len(found)} results, the reference gives {len(expected)}"
    if not problem and setting.subject.row.result_types and found.outputs != expected.outputs:
        problem = f"are of {names_of(setting, found)}, those of the reference of {names_of(setting, expected)}"
    proof.expect("value", "number of results" if len(found) != len(expected) else "results", setting.label, problem)
    for number, (result, reference) in enumerate(zip(found, expected)):
        name = f"result {number}" if len(found) > 1 else "value"
        allowed = precision or PRECISION[setting.dtype]
        proof.compare("value", name, setting.label, result, reference, allowed)
        proof.expect("value", f"dtype of the {name}", setting.label, wrong_dtype(setting, result, reference))


def wrong_dtype(setting: Setting, result: Array, reference: Array) -> str:
    """Numbers of the kind that the reference gives, and as wide as those, or as the inputs."""
    inputs = [array.dtype for _, array in places_of(setting.values) if array.dtype.kind in "fc"]
    found, wanted = result.dtype, reference.dtype
    if KINDS.get(found.kind, found.kind) != KINDS.get(wanted.kind, wanted.kind):
        return f"is {found}, expected {wanted}"
    if found.kind not in "fc" or not inputs or found == wanted:
        return ""
    usual = np.result_type(*inputs, found if found.kind == "c" else np.float16)
    is_usual = precision_of(found) == precision_of(usual)
    return "" if is_usual else f"is {found}, expected {wanted}"


def precision_of(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).eps)


def names_of(setting: Setting, results: Results) -> str:
    return ", ".join(setting.subject.row.returns[number] for number in results.outputs)


def check_inputs_unchanged(setting: Setting, tensors: dict[str, object], proof: Proof) -> None:
    for place, array in places_of(setting.values):
        same = np.array_equal(array_of(at(tensors, place)), array, equal_nan=array.dtype.kind in "fc")
        proof.expect("value", f"input {place[0]!r}", setting.label, "" if same else "was changed by the op")


# ---- random numbers


def check_random(subject: Subject, proof: Proof) -> None:
    """Ops that draw random numbers do so from the generator that is given, by default from that of `manual_seed`."""
    arguments = [argument for argument in subject.row.arguments if is_generator(argument)]
    for argument in arguments:
        for setting in subject.settings():
            check_seed(setting, argument.name, proof)
            if argument.default is not None:
                check_default(setting, argument.name, proof)
        settings = [setting for setting in subject.settings() if any(part.size for part in setting.results())]
        is_used = any(differs(setting, argument.name) for setting in settings)
        problem = "" if is_used else "is not used: other seeds give the same results"
        proof.expect("random", f"generator {argument.name!r}", "all samples", problem)


def check_seed(setting: Setting, name: str, proof: Proof) -> None:
    problem = "" if agree(setting.results(), setting.results()) else "draws other numbers under one seed"
    proof.expect("random", f"generator {name!r}", setting.label, problem)


def check_default(setting: Setting, name: str, proof: Proof) -> None:
    """Without a generator the default one gives the numbers, which goes on from where it was afterwards."""
    before = gs.get_rng_state()
    try:
        gs.manual_seed(setting.values[name].number)
        values: Values = {key: value for key, value in setting.values.items() if key != name}
        found = [array_of(result) for result in setting.subject.call(as_tensors(values))]
    finally:
        gs.set_rng_state(before)
    problem = "" if agree(found, setting.results()) else "does not draw from the default generator"
    proof.expect("random", f"without generator {name!r}", setting.label, problem)


def differs(setting: Setting, name: str) -> bool:
    """Does another seed give other results? One of a few, since what is drawn may be one of two values."""
    seed, plain = setting.values[name], setting.results()
    others = ({**setting.values, name: replace(seed, number=seed.number + n)} for n in range(1, SEEDS))
    return any(not agree(plain, setting.results(values)) for values in others)


def agree(ones: list[Array], others: list[Array]) -> bool:
    return len(ones) == len(others) and all(
        np.array_equal(one, other, equal_nan=one.dtype.kind in "fc") for one, other in zip(ones, others)
    )
