"""Bytes of array data over one training step, as the profiler counts them: after each op, and after each node."""

from __future__ import annotations

from itertools import pairwise

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.profiler import profile

from .svg import Drawing

BATCH, WIDTHS = 1024, (128, 256, 256, 10)
LEFT, BASE, HEIGHT, STEP = 84, 330, 230, 46


def picture() -> Drawing:
    events = measured()
    drawing = Drawing(
        LEFT + STEP * (len(events) + 1) + 24,
        BASE + 170,
        "Memory over a training step",
        "Bytes of array data grow during forward, where values are saved, and shrink during backward.",
    )
    drawing.text(24, 34, "Memory over a training step", "head")
    drawing.text(24, 58, f"Array data beyond the parameters and the batch: {described()}.", "small")
    most = max(size for _, size, _ in events)
    draw_scale(drawing, most, LEFT + STEP * (len(events) + 1))
    draw_curve(drawing, [size / most for _, size, _ in events])
    for number, (name, _, is_backward) in enumerate(events, start=1):
        draw_event(drawing, LEFT + STEP * number, name, is_backward)
    forward = sum(not is_backward for _, _, is_backward in events)
    drawing.text(LEFT + STEP, BASE + 142, "forward: results are saved")
    drawing.text(LEFT + STEP * (forward + 1), BASE + 142, "backward: saved values are freed, gradients stay")
    return drawing


def described() -> str:
    return f"linear layers {'-'.join(map(str, WIDTHS))} with tanh between, a batch of {BATCH}, float32"


def measured() -> list[tuple[str, int, bool]]:
    """(name, bytes in use when it ended, whether it belongs to backward) of each outermost event."""
    images, labels = gs.ones(BATCH, WIDTHS[0]), gs.zeros(BATCH, dtype=gs.int64)
    layers = [
        (gs.ones(outputs, inputs, requires_grad=True), gs.ones(outputs, requires_grad=True))
        for inputs, outputs in pairwise(WIDTHS)
    ]
    with profile(profile_memory=True) as run:
        values = F.linear(images, *layers[0])
        for layer in layers[1:]:
            values = F.linear(values.tanh(), *layer)
        loss = F.cross_entropy(values, labels)
        del values
        loss.backward()
    outermost = [event for event in run.events() if event.cpu_parent is None]
    return [(event.name, event.memory_after, event.name.endswith("Backward0")) for event in outermost]


def draw_scale(drawing: Drawing, most: int, right: float) -> None:
    step = 2 ** (most // 4).bit_length()
    for size in range(0, most + 1, step):
        y = BASE - HEIGHT * size / most
        drawing.line([(LEFT, y), (right, y)], "line grid")
        drawing.text(LEFT - 10, y + 4, f"{size // 1024} KiB", "small", anchor="end")


def draw_curve(drawing: Drawing, parts: list[float]) -> None:
    points = [(LEFT, float(BASE))]
    for number, part in enumerate(parts, start=1):
        points += [(LEFT + STEP * number, points[-1][1]), (LEFT + STEP * number, BASE - HEIGHT * part)]
    right = LEFT + STEP * (len(parts) + 1)
    drawing.line([*points, (right, points[-1][1]), (right, BASE), (LEFT, BASE)], "area")


def draw_event(drawing: Drawing, x: float, name: str, is_backward: bool) -> None:
    drawing.slanted(x + 4, BASE + 16, name)
    drawing.box(x - 3, BASE - 3, 6, 6, "warm" if is_backward else "strong")
