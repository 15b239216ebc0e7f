"""Forward and backward of `mul`: what the wrapper computes, what the node keeps, and which formula it evaluates.

The facts come from the op as codegen understands it.
"""

from __future__ import annotations

from pathlib import Path

from codegen import model
from codegen.build.build import load_table

from .svg import Drawing

ROOT = Path(__file__).resolve().parents[2]


def picture() -> Drawing:
    backward = op("mul").backward
    drawing = Drawing(
        900,
        470,
        "One op, forward and backward",
        "The wrapper of mul computes the product and saves its factors; its node multiplies the gradient by them.",
    )
    drawing.text(24, 34, "One op, forward and backward: mul", "head")
    draw_forward(drawing)
    draw_saved(drawing, backward)
    draw_backward(drawing, backward)
    return drawing


def op(name: str) -> model.Variant:
    """The variant of an op in which every operand is a tensor."""
    return load_table(ROOT / "derivatives.yaml").by_base[name][0].variants[0]


def draw_forward(drawing: Drawing) -> None:
    drawing.text(24, 78, "forward", "head")
    drawing.labelled(120, 64, 120, [("self", "code")])
    drawing.labelled(120, 112, 120, [("other", "code")])
    wrapper = [("op_mul_tensor", "code"), ("self.array * other.array", "small code"), ("records a node", "small")]
    drawing.labelled(350, 70, 220, wrapper, "strong")
    drawing.labelled(690, 88, 120, [("result", "code")])
    drawing.arrow([(240, 80), (350, 94)])
    drawing.arrow([(240, 128), (350, 114)])
    drawing.arrow([(570, 104), (690, 104)])


def draw_saved(drawing: Drawing, backward: model.Backward) -> None:
    drawing.text(24, 210, "saved", "head")
    inputs = [gradient.inputs for gradient in backward.gradients]
    for number, saved in enumerate(backward.saved):
        readers = ", ".join(name for reader in saved.needed_by for name in inputs[reader])
        lines = [(saved.name, "code"), (f"for the gradient of {readers}", "small")]
        drawing.labelled(246 + 214 * number, 190, 200, lines, "warm")
    drawing.arrow([(420, 138), (380, 190)])
    drawing.arrow([(500, 138), (540, 190)])
    drawing.text(690, 210, "each only if the gradient", "small")
    drawing.text(690, 226, "that reads it is wanted", "small")


def draw_backward(drawing: Drawing, backward: model.Backward) -> None:
    drawing.text(24, 310, "backward", "head")
    lines = [("MulBackward0", "code")]
    for gradient in backward.gradients:
        lines.append((f"{', '.join(gradient.inputs)}: {gradient.formula.text}", "small code"))
    drawing.labelled(350, 296, 220, lines, "strong")
    drawing.labelled(690, 312, 120, [("grad", "code")], "warm")
    drawing.arrow([(690, 328), (570, 328)], "back")
    drawing.arrow([(350, 318), (280, 300)], "back")
    drawing.arrow([(350, 338), (280, 356)], "back")
    drawing.labelled(130, 284, 150, [("gradient of self", "")], "warm")
    drawing.labelled(130, 340, 150, [("gradient of other", "")], "warm")
    drawing.arrow([(400, 240), (430, 296)])
    drawing.arrow([(520, 240), (490, 296)])
    drawing.text(
        24,
        420,
        "The engine sums each gradient to the shape of its input and converts it to the input's dtype;",
        "small",
    )
    drawing.text(24, 438, "no formula mentions broadcasting. When the node has run, what it saved is freed.", "small")
