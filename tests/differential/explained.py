"""Differences that are deliberate: a predicate each, why it is so, and where the documentation says it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .compare import Difference


class Explanation(NamedTuple):
    name: str
    reason: str
    documented: tuple[str, str]  # a page of docs/, and what it says there
    applies: Callable[[Difference], bool]


def only_pytorch_refuses(*messages: str) -> Callable[[Difference], bool]:
    pattern = re.compile("|".join(messages))

    def applies(difference: Difference) -> bool:
        return (
            difference.aspect == "error" and difference.ours == "no error" and bool(pattern.search(difference.theirs))
        )

    return applies


def only_we_refuse(*messages: str) -> Callable[[Difference], bool]:
    pattern = re.compile("|".join(messages))

    def applies(difference: Difference) -> bool:
        return (
            difference.aspect == "error" and difference.theirs == "no error" and bool(pattern.search(difference.ours))
        )

    return applies


def another_mistake(difference: Difference) -> bool:
    """Both refuse, and one of them because of the graph or of `out`, where the other one looks at the values first."""
    texts = f"{difference.ours} {difference.theirs}"
    graph = "leaf Variable|automatic differentiation|inference|no_grad mode|out=|out has|resize|desired output type"
    return difference.aspect == "error type" and bool(re.search(graph, texts))


def unknown_argument(difference: Difference) -> bool:
    """PyTorch parses arguments before anything else; an ill-typed call of an ill-typed tensor has two mistakes."""
    return difference.aspect == "error type" and bool(
        re.match(r"TypeError.*(argument|invalid combination|unexpected keyword)", str(difference.theirs))
    )


EXPLANATIONS = (
    Explanation(
        "only here",
        "An op, or a form of one, that PyTorch does not have.",
        ("notes.md", "**More is taken than PyTorch takes.**"),
        lambda d: d.aspect.startswith("error") and str(d.theirs).startswith("AttributeError"),
    ),
    Explanation(
        "more is taken",
        "Dtypes that PyTorch's kernel lacks, numbers in the place of tensors, lists in the place of index tensors.",
        ("notes.md", "**More is taken than PyTorch takes.**"),
        only_pytorch_refuses(
            "not implemented for", "must be Tensor, not", "must be int, not tuple", "invalid combination of arguments",
            "takes no arguments", "takes 1 positional", "unexpected keyword", "but got list",
            "does not support automatic",
        ),
    ),
    Explanation(
        "derivative only here",
        "PyTorch has not implemented the derivative of an op.",
        ("notes.md", "**More is taken than PyTorch takes.**"),
        only_pytorch_refuses("derivative for .* is not implemented"),
    ),
    Explanation(
        "out is not resized",
        "PyTorch resizes an `out` that has elements, with a warning.",
        ("notes.md", "**`out=` changes all its tensors or none.**"),
        only_we_refuse("out has shape"),
    ),
    Explanation(
        "out takes conversions",
        "The result is converted to the dtype of `out`, as promoting ops do it; memory of an array can be exchanged.",
        ("notes.md", "**`out=` changes all its tensors or none.**"),
        only_pytorch_refuses("Expected out tensor to have dtype", "Found dtype", "resize storage", "got .* instead"),
    ),
    Explanation(
        "another mistake is named",
        "A call with several mistakes is refused for one of them, and the order of the checks is another.",
        ("notes.md", "**The first mistake is named.**"),
        lambda d: another_mistake(d) or unknown_argument(d),
    ),
)  # fmt: skip


def explanation_of(difference: Difference) -> Explanation | None:
    return next((e for e in EXPLANATIONS if e.applies(difference)), None)
