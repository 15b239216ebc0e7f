"""Drawings of the recorded graph: as DOT, Mermaid or SVG, for notebooks and files.

>>> import gradsmith as gs
>>> w = gs.ones(3, requires_grad=True)
>>> gs.autograd.graph.draw((w * w).sum(), {"w": w})
output [] float32
SumBackward0 [] float32
MulBackward0 [3] float32
w [3] float32, 2 times
"""

from gradsmith.autograd.graph.drawing.drawing import GraphDrawing, draw

__all__ = ["GraphDrawing", "draw"]
