"""The pictures of the documentation: each module draws one, into the SVG file of its name beside it."""

from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NAMES = ("pipeline", "graph", "one_op", "memory")


def pictures() -> dict[Path, str]:
    """Path of each picture -> its SVG. What draws them needs the generator; `svg` alone needs nothing."""
    return {FOLDER / f"{name}.svg": str(import_module(f".{name}", __name__).picture()) for name in NAMES}
