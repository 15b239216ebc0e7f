"""`draw`, and the object that it gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradsmith.autograd.graph.drawing import graphviz, languages
from gradsmith.autograd.graph.drawing.picture import Kind, Picture
from gradsmith.autograd.graph.drawing.walk import picture_of
from gradsmith.runtime.graph.tensor import TensorBase

RENDERED = ("svg", "png", "pdf")  # by Graphviz


class GraphDrawing:
    """A drawing of a recorded graph, which `draw` makes. It keeps texts, and none of the tensors.

    A notebook shows it as SVG where Graphviz is installed, and from its Mermaid text otherwise. ``repr()`` is a tree
    for terminals.
    """

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    @property
    def note(self) -> str:
        """Says that the drawing is cut, and how many nodes the graph has; empty for a complete drawing."""
        return self._picture.note

    @property
    def num_nodes(self) -> int:
        """How many nodes of the graph it shows."""
        return sum(box.kind in (Kind.OP, Kind.LEAF) for box in self._picture.boxes)

    def dot(self) -> str:
        """The drawing in DOT, the language of Graphviz."""
        return languages.dot(self._picture)

    def mermaid(self) -> str:
        """The drawing as a flowchart of Mermaid, which Markdown pages and JupyterLab show."""
        return languages.mermaid(self._picture)

    def svg(self) -> str:
        """The drawing as SVG, by Graphviz.

        Raises
        ------
        RuntimeError
            Graphviz is not installed, or fails.
        """
        return graphviz.rendered(self.dot(), "svg").decode()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the drawing to a file, in the format that its suffix names.

        Parameters
        ----------
        path : path
            Ends in ``.dot`` or ``.gv``, ``.mmd`` or ``.mermaid``, ``.md`` (Mermaid in a block of Markdown), ``.txt``;
            or, by Graphviz, in ``.svg``, ``.png`` or ``.pdf``.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        ValueError
            The suffix is another one.
        RuntimeError
            Graphviz is needed, and is not installed or fails. No file is written then.
        """
        target = Path(path)
        suffix = target.suffix.lower().removeprefix(".")
        if suffix not in (*_WRITERS, *RENDERED):
            known = ", ".join(f".{name}" for name in (*_WRITERS, *RENDERED))
            raise ValueError(f"save(): the suffix of {target.name!r} names no format; there are {known}")
        content = graphviz.rendered(self.dot(), suffix) if suffix in RENDERED else _WRITERS[suffix](self).encode()
        target.write_bytes(content)
        return target

    def __repr__(self) -> str:
        return languages.text(self._picture)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What notebooks ask for."""
        bundle = {"text/plain": repr(self)}
        try:
            bundle["image/svg+xml"] = self.svg()
        except RuntimeError:  # a picture of which there is only the text is better than an error
            bundle["text/vnd.mermaid"] = self.mermaid()
        return bundle


_WRITERS: dict[str, Callable[[GraphDrawing], str]] = {
    "dot": GraphDrawing.dot,
    "gv": GraphDrawing.dot,
    "mmd": GraphDrawing.mermaid,
    "mermaid": GraphDrawing.mermaid,
    "md": lambda drawing: f"```mermaid\n{drawing.mermaid()}```\n",
    "txt": lambda drawing: f"{drawing!r}\n",
}


def draw(root: Any, params: Any = None, *, saved: bool = False, limit: int | None = 300) -> GraphDrawing:
    """Draw the graph that was recorded below a tensor.

    Every node is a box with the name of its op and the shape and dtype of each result. Gradients follow the arrows,
    from the output to the leaves.

    Parameters
    ----------
    root : Tensor, Node, GradientEdge, or sequence or mapping of these
        Where the graph ends.
    params : mapping of str to Tensor, or Module, optional
        Names of leaves (and of outputs). Of a module these are its ``named_parameters()``.
    saved : bool
        Also write what each node keeps for backward.
    limit : int or None
        The most nodes that are drawn, those nearest to the output; None draws all. A drawing that is cut says so.

    Returns
    -------
    GraphDrawing
        Has ``dot()``, ``mermaid()``, ``svg()`` and ``save(path)``, and is shown by notebooks.

    Raises
    ------
    TypeError
        `root` holds something else, `params` is neither a mapping of tensors nor a module, or `limit` is no int.
    ValueError
        `root` is empty, or `limit` is less than one.
    RuntimeError
        A tensor does not require grad.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w, b = gs.ones(3, requires_grad=True), gs.zeros(3, requires_grad=True)
    >>> drawing = gs.autograd.graph.draw((w * 2 + b).tanh().sum(), {"w": w, "b": b})
    >>> drawing
    output [] float32
    SumBackward0 [] float32
    TanhBackward0 [3] float32
    AddBackward0 [3] float32
    ├─ MulBackward0 [3] float32
    │  w [3] float32
    ╰─ b [3] float32
    >>> print(drawing.mermaid().splitlines()[0])
    flowchart TD
    """
    return GraphDrawing(picture_of(root, _names_of(params), bool(saved), _checked_limit(limit)))


def _checked_limit(limit: Any) -> int | None:
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise TypeError(f"draw(): limit must be an int or None, got {type(limit).__name__}")
    if limit < 1:
        raise ValueError(f"draw(): limit must be at least 1, got {limit}")
    return limit


def _names_of(params: Any) -> dict[int, str]:
    """Names of tensors by identity."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        named_parameters = getattr(params, "named_parameters", None)
        if not callable(named_parameters) or isinstance(params, type):
            raise TypeError(
                f"draw(): params must be a mapping from names to tensors or a module, got {type(params).__name__}"
            )
        params = dict(named_parameters())
    for name, tensor in params.items():
        if not isinstance(tensor, TensorBase):
            raise TypeError(f"draw(): params[{name!r}] must be a Tensor, got {type(tensor).__name__}")
    return {id(tensor): str(name) for name, tensor in params.items()}
