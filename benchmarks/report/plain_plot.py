"""A plot on logarithmic axes, drawn with the few shapes that the pictures of the documentation consist of."""

from __future__ import annotations

import math

from docs.pictures.svg import Drawing

from .plots import Points

LEFT, TOP, WIDTH, HEIGHT = 90, 80, 520, 320
LEGEND = LEFT + WIDTH + 30
COLOURS = ("#2563eb", "#b54708", "#059669", "#9333ea", "#dc2626", "#0891b2", "#a16207", "#db2777", "#64748b", "#65a30d")
DASHES = ("", "6 3", "2 3")


def draw(name: str, lines: dict[str, Points]) -> str:
    height = max(TOP + HEIGHT + 70, TOP + 20 * len(lines) + 40)
    drawing = Drawing(
        LEGEND + 250, height, f"{name}: time against size", "Ratios to PyTorch's time, on logarithmic axes."
    )
    drawing.text(24, 34, name, "head")
    drawing.text(24, 58, "Time as a part of PyTorch's, ratio of the medians, against the number of elements", "small")
    axes = Axes([point for points in lines.values() for point in points])
    axes.draw(drawing)
    for number, (label, points) in enumerate(lines.items()):
        style = styled(number)
        drawing.shapes.append(curve([axes.place(*point) for point in points], style))
        drawing.shapes.append(curve([(LEGEND, TOP + 20 * number), (LEGEND + 24, TOP + 20 * number)], style))
        drawing.text(LEGEND + 32, TOP + 4 + 20 * number, label, "small")
    return str(drawing)


def styled(number: int) -> str:
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    return f'stroke="{COLOURS[number % len(COLOURS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def curve(points: Points, style: str) -> str:
    path = " L".join(f"{x:.0f} {y:.0f}" for x, y in points)
    return f'<path fill="none" stroke-width="2" {style} d="M{path}"/>'


class Axes:
    """Decades of sizes from left to right, doublings of ratios from bottom to top; the line of 1 is always seen."""

    def __init__(self, points: Points) -> None:
        sizes = [math.log10(size) for size, _ in points]
        ratios = [math.log2(ratio) for _, ratio in points]
        self.left, self.right = math.floor(min(sizes)), max(math.ceil(max(sizes)), math.floor(min(sizes)) + 1)
        self.low, self.high = math.floor(min(*ratios, 0)), max(math.ceil(max(ratios)), 1)

    def place(self, size: float, ratio: float) -> tuple[float, float]:
        x = (math.log10(size) - self.left) / (self.right - self.left)
        y = (math.log2(ratio) - self.low) / (self.high - self.low)
        return LEFT + WIDTH * x, TOP + HEIGHT * (1 - y)

    def draw(self, drawing: Drawing) -> None:
        for decade in range(self.left, self.right + 1):
            x, _ = self.place(10.0**decade, 1)
            drawing.line([(x, TOP), (x, TOP + HEIGHT)], "line grid")
            drawing.text(x, TOP + HEIGHT + 20, f"1e{decade}", "small", anchor="middle")
        for power in range(self.low, self.high + 1):
            _, y = self.place(10.0**self.left, 2.0**power)
            drawing.line([(LEFT, y), (LEFT + WIDTH, y)], "line" if power == 0 else "line grid")
            drawing.text(LEFT - 10, y + 4, f"1/{2**-power}" if power < 0 else str(2**power), "small", anchor="end")
