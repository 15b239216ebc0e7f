"""From the table to the package: the rooms of codegen in the order of their imports, and what they read and write."""

from __future__ import annotations

import ast
from pathlib import Path

from .svg import Drawing

ROOT = Path(__file__).resolve().parents[2]
# Lowest first; tests/test_rooms.py holds the real imports to this order.
ROOMS = (
    "spec", "arrays", "formula", "resolve", "loops", "algebra", "entries", "saving", "check", "build", "api", "views",
    "write",
)  # fmt: skip

TABLE_X, ROOMS_X, GENERATED_X, TOP, STEP = 24, 244, 944, 92, 52
WIDTH = 624  # of a room


def picture() -> Drawing:
    bottom = TOP + STEP * len(ROOMS)
    drawing = Drawing(
        GENERATED_X + 234,
        bottom + 160,
        "From the table to the package",
        "derivatives.yaml goes through the rooms of codegen to generated text, which is compiled over the runtime.",
    )
    drawing.text(24, 34, "From the table to the package", "head")
    drawing.text(
        24, 58, "Each room of codegen imports only rooms above it. Arrows show what is made from what.", "small"
    )
    middle = (TOP + bottom) / 2
    draw_table(drawing, middle)
    draw_rooms(drawing, bottom)
    draw_generated(drawing, middle)
    draw_package(drawing, middle, bottom)
    return drawing


def draw_table(drawing: Drawing, middle: float) -> None:
    lines = [("derivatives.yaml", "code"), ("one entry per op:", "small"), ("signature, forward,", "small")]
    lines.append(("gradients, samples", "small"))
    drawing.labelled(TABLE_X, middle - 43, 170, lines, "strong")
    drawing.arrow([(TABLE_X + 170, middle), (ROOMS_X - 12, middle)])


def draw_rooms(drawing: Drawing, bottom: float) -> None:
    drawing.box(ROOMS_X - 12, TOP - 12, WIDTH + 24, bottom - TOP + 18)
    for number, room in enumerate(ROOMS):
        y = TOP + STEP * number
        drawing.box(ROOMS_X, y, WIDTH, STEP - 8, "strong")
        drawing.text(ROOMS_X + 12, y + 18, f"codegen/{room}", "code")
        drawing.text(ROOMS_X + 12, y + 35, meaning(room), "small")


def meaning(room: str) -> str:
    """First line of the folder's docstring, without its full stop."""
    text = (ROOT / "codegen" / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].rstrip(".").replace("``", "")


def draw_generated(drawing: Drawing, middle: float) -> None:
    lines = [("generated/", "code"), ("Cython: nodes, wrappers", "small"), ("C: compiled loops", "small")]
    lines += [("stubs, table of ops", "small")]
    drawing.arrow([(ROOMS_X + WIDTH + 12, middle), (GENERATED_X, middle)])
    drawing.labelled(GENERATED_X, middle - 43, 210, lines, "strong")


def draw_package(drawing: Drawing, middle: float, bottom: float) -> None:
    y = bottom + 50
    runtime = [("runtime/", "code"), ("handwritten Cython and C: arrays, tensors, nodes, engine", "small")]
    drawing.labelled(ROOMS_X - 12, y, WIDTH + 24, runtime, "warm")
    package = [("gradsmith/", "code"), ("the package: public API", "small")]
    drawing.labelled(GENERATED_X, y, 210, package, "strong")
    drawing.arrow([(ROOMS_X + WIDTH + 12, y + 25), (GENERATED_X, y + 25)])
    drawing.arrow([(GENERATED_X + 105, middle + 43), (GENERATED_X + 105, y)])
    drawing.text(GENERATED_X + 97, bottom + 6, "compiling/", "small code", anchor="end")
    drawing.text(ROOMS_X - 12, y + 76, "The runtime imports nothing that is generated; it calls up through", "small")
    drawing.text(ROOMS_X - 12, y + 92, "runtime/switches/upcalls.pyx and the class TensorBase.", "small")
