"""The pictures of the documentation: each module draws one, into the SVG file of its name beside it."""

from pathlib import Path

from . import graph, memory, one_op, pipeline

FOLDER = Path(__file__).resolve().parent


def pictures() -> dict[Path, str]:
    """Path of each picture -> its SVG."""
    drawn = {"pipeline": pipeline, "graph": graph, "one_op": one_op, "memory": memory}
    return {FOLDER / f"{name}.svg": str(module.picture()) for name, module in drawn.items()}
