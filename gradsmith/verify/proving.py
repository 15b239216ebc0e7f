"""Everything that is proven about one entry."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

import gradsmith as gs
from gradsmith.autograd import allow_phase_dependence

from .case import Subject
from .checks import batching, forms, saved, signature, value
from .checks.batching import varied as varied_batches
from .checks.derivatives import (
    circle,
    constants,
    forward,
    mixed,
    refusals,
    reverse,
    scaled,
    second,
    shared,
    surrogate,
    third,
)
from .checks.numbers import hard, points, rounding, singular, special
from .checks.other_calls import changed, elementwise, layouts, resized, shared_out, varied
from .coverage.cover import gaps_of
from .coverage.gap import Gap
from .mutants.trial import tried
from .proof import Failure, Proof
from .samples import key_of
from .trees.models import own_models

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

    from .trees.models import Model, Models

CHECKS = (
    signature, value, surrogate, reverse, circle, forward, second, third, constants, refusals, forms, elementwise,
    special, hard, singular, scaled, shared, mixed, resized, shared_out, layouts, points, saved, batching,
)  # fmt: skip
NO_FORM = Gap(
    "only formulas can call the op, so that nothing was run", "`variants: internal`, with which its module has it"
)
ENOUGH = 10  # failures of one check: more say the same


def prove(row: OpRow, module: ModuleType = gs, models: Models | None = None) -> Proof:
    """Try everything that the entry claims, and everything that it does not claim but has to hold.

    Then see what was left out; `models` has the formulas of a table that is not gradsmith's own.
    """
    start = time.perf_counter()
    proof, subject = Proof(key_of(row)), Subject(row, module)
    if not row.forms:
        proof.gaps = [NO_FORM]
        return proof
    with warnings.catch_warnings(), np.errstate(all="ignore"), allow_phase_dependence():
        warnings.filterwarnings("ignore", message="Casting complex values to real")
        warnings.filterwarnings("ignore", message="A window was not provided")
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is NaN, and nothing to warn of
        for check in CHECKS:
            attempt(partial(check.check, subject), check.__name__.rpartition(".")[2], proof)
        known = own_models() if module is gs else models
        if known is not None:
            model = known.of(row)
            for name, look in WITH_FORMULAS.items():
                if proof.holds:
                    attempt(partial(look, subject, model), name, proof)
    proof.seconds = time.perf_counter() - start
    return proof


def attempt(check: Callable[[Proof], None], name: str, proof: Proof) -> None:
    """An error that a check does not expect is one of the op."""
    before = len(proof.failures)
    try:
        check(proof)
    except Exception as error:
        proof.failures.append(Failure(f"check of {name}", "", f"raised {described(error)}"))
    del proof.failures[before + ENOUGH :]


def see_what_is_missing(subject: Subject, model: Model, proof: Proof) -> None:
    """Record what no check has covered, and the wrong formulas that none would notice."""
    proof.gaps = gaps_of(subject, model, proof)
    proof.mutants, unlike = tried(subject, model)
    for text in unlike:
        problem = "is not what its steps give one by one, so that it could not be mutated"
        proof.failures.append(Failure(text, "all samples", problem))


# In this order, each when nothing was wrong before.
WITH_FORMULAS: Mapping[str, Callable[[Subject, Model, Proof], None]] = {
    "rounding": rounding.check, "varied": varied.check, "batching": varied_batches.check, "changed": changed.check,
    "coverage": see_what_is_missing,
}  # fmt: skip


def described(error: Exception) -> str:
    """The error, and the innermost line of this package's own that met it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "verify" in frame.filename]
    place = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
