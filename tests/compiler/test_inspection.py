"""What a program says of itself."""

from typing import Any

import pytest

import gradsmith as gs
from gradsmith.autograd.graph.drawing import graphviz


def product(x: Any, w: Any) -> Any:
    return (x @ w).tanh().sum()


def euler(y: Any) -> Any:
    for _ in range(50):
        y = y + 0.1 * y.sin()
    return y


def made(function: Any, *args: Any) -> Any:
    compiled = gs.compile(function)
    compiled(*args)
    (variant,) = compiled.programs
    return variant


def test_cost() -> None:
    cost = made(product, gs.ones(4, 5), gs.ones(5, 6)).cost()
    assert cost.ops == {"matmul": 1, "tanh": 1, "sum": 1}
    assert cost.flops == 2 * 4 * 5 * 6 + 24 + 24
    assert cost.bytes_read == 4 * (20 + 30 + 24 + 24) and cost.bytes_written == 4 * (24 + 24 + 1)
    assert "288 operations" in str(cost) and "1 matmul" in str(cost)


def test_loops_count_by_their_turns() -> None:
    cost = made(euler, gs.ones(3, dtype=gs.float64)).cost()
    assert cost.ops == {"sin": 50, "mul": 50, "add": 50} and cost.flops == 450


def test_cost_of_a_backward() -> None:
    alone = made(product, gs.ones(4, 5), gs.ones(5, 6)).cost()
    both = made(product, gs.ones(4, 5), gs.ones(5, 6, requires_grad=True)).cost()
    assert both.flops > alone.flops and both.ops["tanh"] == 1


def test_profile() -> None:
    x, w = gs.ones(4, 5), gs.ones(5, 6)
    variant = made(lambda x, w: product(x, w) + gs.linalg.inv(gs.eye(3) * x[0, 0]).sum(), x, w)
    profile = variant.profile(x, w, runs=3)
    assert len(profile.rows) == len(variant.forward.steps) and profile.total > 0
    text = str(profile)
    assert "inverse" in text and "block: " in text and "1 matmul" in text and "%" in text
    with pytest.raises(ValueError, match="runs must be at least 1"):
        variant.profile(x, w, runs=0)


def test_drawing() -> None:
    drawing = made(euler, gs.ones(3)).draw()
    text = drawing.mermaid()
    assert text.startswith("flowchart TD") and "49 times" in text and "sin" in text and "result" in text
    assert "digraph" in drawing.dot()
    if graphviz.is_installed():
        assert "<svg" in drawing.svg()
    else:
        with pytest.raises(RuntimeError, match="needs Graphviz"):
            drawing.svg()


def test_a_long_program_is_cut() -> None:
    def long(x: Any) -> Any:
        for n in range(400):
            x = (x.sin(), x.cos(), x * n, x.exp(), x + n)[(n * n) % 5] / (1 + n % 7)
        return x

    variant = made(lambda x: gs.linalg.inv(x) + long(x), gs.eye(2))
    assert variant.draw().note or len(variant.forward.steps) < 300
