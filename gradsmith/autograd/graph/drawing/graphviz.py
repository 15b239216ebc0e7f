"""Graphviz, a program that draws: it is called when it is installed."""

from __future__ import annotations

import shutil
import subprocess

PROGRAM = "dot"
SECONDS = 120  # it takes long for large graphs


def is_installed() -> bool:
    """Is there the program that `rendered` calls?"""
    return shutil.which(PROGRAM) is not None


def rendered(source: str, kind: str) -> bytes:
    """What Graphviz makes of a text in DOT, in the format `kind`.

    Raises
    ------
    RuntimeError
        Graphviz is not installed, fails, or takes longer than two minutes.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise RuntimeError(
            f"drawing a graph as {kind.upper()} needs Graphviz, and its program '{PROGRAM}' was not found. Install it "
            "(apt install graphviz, brew install graphviz or conda install graphviz), or use .mermaid() or .dot(), "
            "which need nothing"
        )
    try:
        done = subprocess.run([program, f"-T{kind}"], input=source.encode(), capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"Graphviz took longer than {SECONDS} s: draw fewer nodes, with a smaller limit") from None
    except OSError as error:
        raise RuntimeError(f"Graphviz could not be started: {error}") from error
    if done.returncode or not done.stdout:
        raise RuntimeError(f"Graphviz failed: {done.stderr.decode(errors='replace').strip() or 'it wrote nothing'}")
    return done.stdout
