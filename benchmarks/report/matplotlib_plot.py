"""The same plot, drawn by Matplotlib."""

from __future__ import annotations

import importlib
import io

from .plots import Points


def draw(name: str, lines: dict[str, Points]) -> str:
    importlib.import_module("matplotlib").use("svg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    for label, points in lines.items():
        axes.plot(*zip(*points), marker=".", label=label)
    axes.axhline(1, color="grey", linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log", base=2)
    axes.set(title=name, xlabel="elements", ylabel="time as a part of PyTorch's")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    text = io.StringIO()
    figure.savefig(text, format="svg")
    pyplot.close(figure)
    return text.getvalue()
