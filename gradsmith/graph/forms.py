"""Which function prints a step."""

from __future__ import annotations

from collections.abc import Callable

from gradsmith.graph import elementwise, moves, products, reductions
from gradsmith.graph.layout import NotExportable, Statement
from gradsmith.graph.step_view import StepView

Form = Callable[[StepView], list[str]]

FORMS: dict[str, Form] = {
    **dict.fromkeys(moves.COPIES, moves.copy),
    **dict.fromkeys(products.NAMES, products.product),
    **dict.fromkeys(elementwise.NAMES, elementwise.elementwise),
    **dict.fromkeys(("floor_divide", "remainder"), elementwise.division),
    **dict.fromkeys(("tril", "triu"), moves.triangle), "outer": products.outer,
    **dict.fromkeys(("sum", "sum_to", "mean"), reductions.total),
    **dict.fromkeys(("amax", "amin", "max", "min"), reductions.extreme),
    **dict.fromkeys(("argmax", "argmin"), reductions.place_of_extreme),
    **dict.fromkeys(("softmax", "log_softmax"), reductions.softmax),
    **dict.fromkeys(("cat", "stack"), moves.join),
    **dict.fromkeys(("fill", "zero"), moves.fill),
    **dict.fromkeys(("all", "any"), reductions.truth), "flip": moves.flip,
    **dict.fromkeys(("softmax_backward", "log_softmax_backward"), reductions.softmax_backward),
    "prod": reductions.product, "logsumexp": reductions.logsumexp,
    "cumsum": reductions.cumulative_sum, "where": elementwise.where, "masked_fill": elementwise.masked_fill,
    "basic_index_backward": moves.slice_backward, "geometry_scatter": moves.geometry_scatter,
}  # fmt: skip


def statement_of(view: StepView, title: str) -> Statement:
    """The step in C."""
    form = elementwise.kernel if elementwise.is_kernel(view) else FORMS.get(view.name)
    if form is None:
        raise NotExportable
    lines = tuple(form(view))
    return Statement(title, tuple(view.reads), view.result, lines)
