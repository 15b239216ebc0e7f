"""Lines of generated code."""

from collections.abc import Iterable, Iterator


def indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
