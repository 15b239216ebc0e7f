"""The graph that a small network records: nodes as boxes, and the edges that `next_functions` gives."""

from __future__ import annotations

from typing import Any

import gradsmith as gs
import gradsmith.nn.functional as F

from .svg import Drawing

BOX, ROW, COLUMN, TOP, LEFT = 168, 84, 190, 84, 24


def picture() -> Drawing:
    names, loss = program()
    rows = levels(loss.grad_fn)
    places = placed(rows)
    drawing = Drawing(
        LEFT * 2 + COLUMN * max(map(len, rows)) - (COLUMN - BOX),
        TOP + ROW * len(rows),
        "The graph of a small program",
        "Nodes of a two-layer network from the loss down to the parameters, with the edges that gradients follow.",
    )
    drawing.text(LEFT, 34, "loss = mse_loss(linear(linear(x, w1, b1).tanh(), w2, b2), target)", "code")
    drawing.text(LEFT, 58, "Gradients follow the arrows. x and target require none, so no edge leads to them.", "small")
    for node, (x, y) in places.items():
        for child in children(node):
            draw_edge(drawing, (x, y), places[child])
    for node, (x, y) in places.items():
        leaf = getattr(node, "variable", None)
        below = attributes(node) if leaf is None else f"{names[id(leaf)]}, shape {tuple(leaf.shape)}"
        drawing.labelled(x, y, BOX, [(node.name(), ""), (below, "small")], "strong" if leaf is not None else "box")
    return drawing


def program() -> tuple[dict[int, str], gs.Tensor]:
    """Names of the parameters by identity, and the loss."""
    x, target = gs.ones(64, 1), gs.ones(64, 1)
    shapes = {"w1": (32, 1), "b1": (32,), "w2": (1, 32), "b2": (1,)}
    leaves = {name: gs.ones(*shape, requires_grad=True) for name, shape in shapes.items()}
    hidden = F.linear(x, leaves["w1"], leaves["b1"]).tanh()
    loss = F.mse_loss(F.linear(hidden, leaves["w2"], leaves["b2"]), target)
    return {id(leaf): name for name, leaf in leaves.items()}, loss


def children(node: Any) -> list[Any]:
    return [child for child, _ in node.next_functions if child is not None]


def levels(root: Any) -> list[list[Any]]:
    """Nodes by distance from the root."""
    found, row = [], [root]
    while row:
        found.append(row)
        row = list(dict.fromkeys(child for node in row for child in children(node)))
    return found


def placed(rows: list[list[Any]]) -> dict[Any, tuple[float, float]]:
    """Upper left corner of each node's box; the last row a node is in counts."""
    return {
        node: (LEFT + COLUMN * column, TOP + ROW * number)
        for number, row in enumerate(rows)
        for column, node in enumerate(row)
    }


def attributes(node: Any) -> str:
    kept = [name.removeprefix("_saved_") for name in dir(node) if name.startswith("_saved_")]
    kept = [name for name in kept if isinstance(getattr(node, f"_saved_{name}"), gs.Tensor)]
    return f"keeps {', '.join(kept)}" if kept else "keeps no tensor"


def draw_edge(drawing: Drawing, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x, y), (to_x, to_y) = start, end
    height = 50
    middle = y + height + (ROW - height) / 2
    drawing.arrow([(x + BOX / 2, y + height), (x + BOX / 2, middle), (to_x + BOX / 2, middle), (to_x + BOX / 2, to_y)])
