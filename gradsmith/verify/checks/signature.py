"""The arguments that callers see, in their order and with their defaults, against how PyTorch and NumPy have them."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

import gradsmith as gs

from ..samples import key_of
from ..signatures import SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradsmith.generated.op_table import OpRow

    from ..case import Subject
    from ..proof import Proof


def check(subject: Subject, proof: Proof) -> None:
    """Of gradsmith's own public ops that others have too: nobody else knows the arguments of a user's own op."""
    row = subject.row
    listed, own = known_signatures().get(key_of(row)), signature_of(row)
    if subject.module is not gs or "internal" in row.forms or listed is None:
        return
    proof.expect("value", "signature", "all calls", "" if listed == own else f"is ({own}), expected ({listed})")


def signature_of(row: OpRow) -> str:
    """``self, dim=None, *, correction=1, keepdim=False``."""
    texts = [a.name if a.default is None else f"{a.name}={ast.literal_eval(a.default)!r}" for a in row.arguments]
    starred = [number for number, a in enumerate(row.arguments) if a.keyword_only]
    if starred:
        texts.insert(starred[0], "*")
    return ", ".join(texts)


@functools.cache
def known_signatures() -> Mapping[str, str]:
    """``var`` -> ``self, dim=None, *, correction=1, keepdim=False``; a long one goes on in an indented line."""
    lines = SIGNATURES.replace("\n    ", " ").splitlines()
    return {name: arguments.removesuffix(")") for name, _, arguments in (line.partition("(") for line in lines)}
