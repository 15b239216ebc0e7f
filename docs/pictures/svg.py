"""A few shapes of SVG, enough for the pictures of the documentation.

Colours are named by what they mean, and follow the reader's light or dark theme. Every number is printed as an
integer, so that the same picture is the same text on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

Point = tuple[float, float]

STYLE = """
.page { fill: #ffffff } .box { fill: #f2f4f7; stroke: #667085 } .strong { fill: #dbeafe; stroke: #2563eb }
.warm { fill: #fef0c7; stroke: #b54708 } .line { fill: none; stroke: #667085 } .back { fill: none; stroke: #b54708 }
.area { fill: #dbeafe; stroke: #2563eb } .tip { fill: #667085 } .backtip { fill: #b54708 } .grid { stroke: #d0d5dd }
text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #101828 }
.small { font-size: 11px; fill: #475467 } .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace }
.head { font-size: 16px; font-weight: 600 }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .box { fill: #1d2430; stroke: #8b98a9 } .strong { fill: #172c51; stroke: #6ea8fe }
.warm { fill: #3b2a12; stroke: #f0a04b } .line { stroke: #8b98a9 } .back { stroke: #f0a04b }
.area { fill: #172c51; stroke: #6ea8fe } .tip { fill: #8b98a9 } .backtip { fill: #f0a04b } .grid { stroke: #333d4b }
text { fill: #e6edf3 } .small { fill: #a9b4c2 }
}
"""


class Drawing:
    """Shapes in the order in which they are drawn; later ones cover earlier ones."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.width, self.height = width, height
        self.title, self.description = title, description
        self.shapes: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        self.shapes.append(
            f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="6"/>'
        )

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        kinds = f' class="{kind}"' if kind else ""
        ends = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.shapes.append(f'<text{kinds}{ends} x="{x:.0f}" y="{y:.0f}">{escape(words, quote=False)}</text>')

    def slanted(self, x: float, y: float, words: str) -> None:
        """Small text that rises to the point where it ends."""
        self.shapes.append(
            f'<text class="small" text-anchor="end" transform="translate({x:.0f} {y:.0f}) rotate(-50)">'
            f"{escape(words, quote=False)}</text>"
        )

    def labelled(self, x: float, y: float, width: float, lines: Iterable[tuple[str, str]], kind: str = "box") -> float:
        """A box around centred lines, each (words, kind); the y of its lower edge."""
        rows = list(lines)
        height = 18 * len(rows) + 14
        self.box(x, y, width, height, kind)
        for number, (words, style) in enumerate(rows):
            self.text(x + width / 2, y + 20 + 18 * number, words, style, anchor="middle")
        return y + height

    def line(self, points: Iterable[Point], kind: str = "line") -> None:
        path = " L".join(f"{x:.0f} {y:.0f}" for x, y in points)
        self.shapes.append(f'<path class="{kind}" d="M{path}"/>')

    def arrow(self, points: Iterable[Point], kind: str = "line") -> None:
        """A line with a tip at its last point."""
        self.line(points, kind)
        tip = "backtip" if kind == "back" else "tip"
        self.shapes[-1] = self.shapes[-1].replace("/>", f' marker-end="url(#{tip})"/>')

    def __str__(self) -> str:
        tips = "".join(
            f'<marker id="{tip}" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
            f'<path class="{tip}" d="M0 0 L9 4 L0 8 z"/></marker>'
            for tip in ("tip", "backtip")
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
            f' height="{self.height}" role="img" aria-labelledby="title description">',
            f'<title id="title">{escape(self.title)}</title>',
            f'<desc id="description">{escape(self.description)}</desc>',
            f"<style>{STYLE}</style>",
            f"<defs>{tips}</defs>",
            f'<rect class="page" width="{self.width}" height="{self.height}"/>',
            *self.shapes,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"
