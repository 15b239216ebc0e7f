"""The command line: ``python -m gradsmith``.

python -m gradsmith                version, build, processor and optional extras, as text
python -m gradsmith info --json    the same for programs
python -m gradsmith port ...       move a program from PyTorch to gradsmith; ``port --help`` says how
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from typing import Any

WIDTH = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; without one, ``info``.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["port"]:  # which has options of its own, `--help` among them
        return port(arguments[1:])
    options = _parser().parse_args(arguments)
    return info(as_json=getattr(options, "json", False))


def _parser() -> argparse.ArgumentParser:
    from gradsmith.version import OWN_VERSION

    parser = argparse.ArgumentParser(
        prog="python -m gradsmith", description="What this gradsmith is, and tools around it."
    )
    parser.add_argument("--version", action="version", version=f"gradsmith {OWN_VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="command")
    about = commands.add_parser("info", help="version, build, processor and optional extras; the default")
    about.add_argument("--json", action="store_true", help="print an object of JSON")
    commands.add_parser("port", help="move a program from PyTorch to gradsmith", add_help=False)
    return parser


def port(arguments: list[str]) -> int:
    """Hand over to the module that moves programs."""
    code = importlib.import_module("gradsmith.compat.port").main(arguments)
    return int(code or 0)


def info(as_json: bool = False) -> int:
    """Print what `gradsmith.environment` finds."""
    from gradsmith.environment import facts

    found = facts()
    print(json.dumps(found, indent=2) if as_json else _as_text(found))
    return 0


def _as_text(found: dict[str, Any]) -> str:
    extras = found["extras"]
    lines = [f"{name:{WIDTH}} {value}" for name, value in found.items() if name != "extras"]
    width = max(len(extra["name"]) for extra in extras)
    for place, extra in enumerate(extras):
        state = extra["found"] or f"not found: {extra['install']}"
        lines.append(f"{'' if place else 'extras':{WIDTH}} {extra['name']:{width}}  {state}  ({extra['purpose']})")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
