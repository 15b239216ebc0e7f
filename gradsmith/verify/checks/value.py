"""The value against the entry's reference, in every inexact dtype, and that the inputs stay as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..references.expected import NotAvailable, expected_results
from ..samples import array_of, as_tensors, at, places_of

if TYPE_CHECKING:
    from ..case import Setting, Subject
    from ..proof import Proof

PRECISION = {"float64": 1e-13, "complex128": 1e-13, "float32": 1e-5, "complex64": 1e-5}
SINGLE = {"float64": "float32", "complex128": "complex64"}


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.settings():
        check_setting(setting, proof)
    for setting in subject.settings([SINGLE[dtype] for dtype in subject.dtypes]):
        check_setting(setting, proof)


def check_setting(setting: Setting, proof: Proof, precision: float | None = None) -> None:
    tensors = as_tensors(setting.values)
    found = [array_of(result) for result in setting.subject.call(tensors)]
    check_inputs_unchanged(setting, tensors, proof)
    try:
        expected = expected_results(setting.subject.row, setting.values)
    except NotAvailable as reason:
        proof.not_run["value"] = str(reason)
        return
    problem = "" if len(found) == len(expected) else f"{len(found)} results, the reference gives {len(expected)}"
    proof.expect("value", "number of results", setting.label, problem)
    for number, (result, reference) in enumerate(zip(found, expected)):
        name = f"result {number}" if len(found) > 1 else "value"
        allowed = precision or PRECISION[setting.dtype]
        proof.compare("value", name, setting.label, result, reference, allowed)


def check_inputs_unchanged(setting: Setting, tensors: dict[str, object], proof: Proof) -> None:
    for place, array in places_of(setting.values):
        same = np.array_equal(array_of(at(tensors, place)), array, equal_nan=array.dtype.kind in "fc")
        proof.expect("value", f"input {place[0]!r}", setting.label, "" if same else "was changed by the op")
