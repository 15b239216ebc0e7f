"""gradsmith.autograd.graph.draw: what is drawn, in which languages, and what is said when it cannot be."""

import gc
import os
import shutil
import stat
import weakref
from xml.etree import ElementTree

import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.autograd.graph import draw, drawing, get_gradient_edge
from gradsmith.autograd.graph.drawing import graphviz, languages
from gradsmith.autograd.graph.drawing.picture import Box, Kind, Picture

HOSTILE = 'a"b\\N <i>&{}|[]()#;`*_\nend'


def program():
    w, b = gs.ones(4, 3, requires_grad=True), gs.zeros(4, requires_grad=True)
    return {"w": w, "b": b}, (nn.functional.linear(gs.ones(2, 3), w, b).tanh() ** 2).sum()


def chain(length):
    x = gs.ones(2, requires_grad=True)
    for _ in range(length):
        x = x * 1.5
    return x


@pytest.fixture
def no_graphviz(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def fake_graphviz(monkeypatch, tmp_path):
    """A program `dot` that writes what it was asked for, as far as the caller can see."""

    def make(body):
        program = tmp_path / "dot"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return make


# ---- what is shown


def test_ops_shapes_and_names():
    params, loss = program()
    assert repr(draw(loss, params)).splitlines() == [
        "output [] float32",
        "SumBackward0 [] float32",
        "PowBackward0 [2, 4] float32",
        "TanhBackward0 [2, 4] float32",
        "LinearBackward0 [2, 4] float32",
        "├─ w [4, 3] float32",
        "╰─ b [4] float32",
    ]


def test_a_module_names_its_parameters():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    text = repr(draw(net(gs.ones(1, 2)).sum(), net))
    assert all(name in text for name in ("0.weight [3, 2]", "0.bias [3]", "1.weight [1, 3]", "1.bias [1]"))


def test_leaves_without_names():
    assert "leaf [2] float32" in repr(draw(chain(1)))


def test_saved_tensors():
    params, loss = program()
    text = draw(loss, params, saved=True).dot()
    assert "TanhBackward0\\n[2, 4] float32\\nsaves result [2, 4] float32" in text
    assert "saves" not in draw(loss, params).dot()


def test_one_tensor_that_is_used_twice():
    x = gs.ones(3, requires_grad=True)
    made = draw(x * x, {"x": x})
    assert repr(made).splitlines()[-1] == "x [3] float32, 2 times"
    assert made.dot().count("n1 -> n2") == 2


def test_what_has_been_shown_is_named_again():
    x = gs.ones(3, requires_grad=True)
    y = x.exp()
    lines = repr(draw(y.sin() * y.cos())).splitlines()
    assert sum("ExpBackward0" in line for line in lines) == 2
    assert lines[-1] == "   ExpBackward0 [3] float32, as above"


def test_several_outputs():
    x = gs.ones(2, requires_grad=True)
    first, second = (x * 2).unbind()
    made = draw([first, second], {"second": second})
    assert "output 0 [] float32" in repr(made) and "second [] float32" in repr(made)
    assert 'n1 -> n2 [label="result 1"]' in made.dot()
    assert '-->|"result 1"|' in made.mermaid()


def test_nodes_edges_and_leaves_as_roots():
    params, loss = program()
    assert repr(draw(loss.grad_fn)).startswith("SumBackward0")
    assert repr(draw(get_gradient_edge(loss))).startswith("SumBackward0")
    assert repr(draw(params["w"], params)) == "w [4, 3] float32"
    assert "output 1 [] float32" in repr(draw({"one": loss, "two": loss * 2}))


def test_a_drawing_keeps_no_tensor():
    x = gs.ones(3, requires_grad=True)
    made = draw((x * 2).sum(), {"x": x})
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None and "x [3]" in repr(made)


def test_after_a_backward():
    params, loss = program()
    loss.backward()
    assert "TanhBackward0" in repr(draw(loss, params, saved=True))


# ---- large graphs


def test_a_large_graph_is_cut_and_says_so():
    made = draw(chain(5000))
    assert made.num_nodes == 300
    assert made.note == "The 300 nodes nearest to the output, of 5,001; draw(..., limit=None) shows all."
    for text in (repr(made), made.dot(), made.mermaid().replace("#40;", "(").replace("#41;", ")")):
        assert "of 5,001" in text and "4,701 more nodes" in text


def test_without_a_limit():
    made = draw(chain(2000), limit=None)
    assert made.num_nodes == 2001 and not made.note
    assert repr(made).count("\n") == 2001


def test_what_is_cut_off_has_one_box():
    x = gs.ones(2, requires_grad=True)
    made = draw(sum((x * n).exp() for n in range(1, 40)), limit=10)
    assert made.dot().count("more nodes") == 1
    arrows = [line for line in made.dot().splitlines() if "->" in line]
    assert len(arrows) == len(set(arrows))


# ---- languages


def test_names_cannot_leave_their_quotes():
    x = gs.ones(2, requires_grad=True)
    made = draw(x * 2, {HOSTILE: x})
    (line,) = [line for line in made.dot().splitlines() if "end" in line]
    assert 'label="a\\"b\\\\N <i>&{}|[]()#;`*_ end\\n[2] float32"' in line
    (line,) = [line for line in made.mermaid().splitlines() if "end" in line]
    quoted = line.split('"')
    assert len(quoted) == 3 and not set(quoted[1].replace("<br/>", "")) & set("<>[]{}\\`")
    assert len(repr(made).splitlines()) == 3


def test_dot_is_what_graphviz_reads():
    if shutil.which("dot") is None:
        assert draw(chain(1)).dot().startswith("digraph gradients {\n")
        return
    params, loss = program()
    root = ElementTree.fromstring(draw(loss, params | {HOSTILE: params["w"]}, saved=True).svg())
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "TanhBackward0" in texts and "[4, 3] float32" in texts


def test_all_kinds_of_boxes_have_a_style():
    picture = Picture(tuple(Box(kind, (kind.value,)) for kind in Kind), ())
    for language in (languages.dot, languages.mermaid, languages.text):
        assert all(kind.value in language(picture) for kind in Kind)


# ---- files and notebooks


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("g.dot", "digraph"),
        ("g.gv", "digraph"),
        ("g.mmd", "flowchart TD"),
        ("g.MERMAID", "flowchart TD"),
        ("g.md", "```mermaid\nflowchart TD"),
        ("g.txt", "output [2] float32"),
    ],
)
def test_files_by_their_suffix(tmp_path, name, beginning):
    path = draw(chain(2)).save(tmp_path / name)
    assert path == tmp_path / name
    assert path.read_text(encoding="utf-8").startswith(beginning)


@pytest.mark.parametrize("name", ["g.jpg", "g", "g.svg.old"])
def test_a_suffix_without_format(tmp_path, name):
    with pytest.raises(ValueError, match=r"names no format; there are \.dot"):
        draw(chain(1)).save(tmp_path / name)


@pytest.mark.skipif(os.name == "nt", reason="the program is a script of the shell")
def test_svg_comes_from_graphviz(tmp_path, fake_graphviz):
    fake_graphviz('cat > /dev/null; echo "<svg>$1</svg>"')
    made = draw(chain(1))
    assert made.svg() == "<svg>-Tsvg</svg>\n"
    assert made.save(tmp_path / "g.pdf").read_text() == "<svg>-Tpdf</svg>\n"
    bundle = made._repr_mimebundle_()
    assert bundle == {"text/plain": repr(made), "image/svg+xml": made.svg()}


@pytest.mark.skipif(os.name == "nt", reason="the program is a script of the shell")
def test_what_graphviz_says_is_passed_on(tmp_path, fake_graphviz):
    fake_graphviz("cat > /dev/null; echo 'no fonts here' >&2; exit 3")
    with pytest.raises(RuntimeError, match="Graphviz failed: no fonts here"):
        draw(chain(1)).svg()
    fake_graphviz("cat > /dev/null")
    with pytest.raises(RuntimeError, match="it wrote nothing"):
        draw(chain(1)).svg()


@pytest.mark.skipif(os.name == "nt", reason="the program is a script of the shell")
def test_graphviz_may_not_take_forever(fake_graphviz, monkeypatch):
    fake_graphviz("exec sleep 20")
    monkeypatch.setattr(graphviz, "SECONDS", 0.1)
    with pytest.raises(RuntimeError, match=r"longer than 0\.1 s: draw fewer nodes"):
        draw(chain(1)).svg()


def test_without_graphviz(no_graphviz, tmp_path):
    made = draw(chain(1))
    assert not graphviz.is_installed()
    with pytest.raises(RuntimeError, match=r"needs Graphviz.*apt install graphviz.*or use \.mermaid\(\)"):
        made.svg()
    with pytest.raises(RuntimeError, match="drawing a graph as PNG needs Graphviz"):
        made.save(tmp_path / "g.png")
    assert not (tmp_path / "g.png").exists()
    assert made._repr_mimebundle_() == {"text/plain": repr(made), "text/vnd.mermaid": made.mermaid()}


# ---- errors


@pytest.mark.parametrize("root", [3, "loss", None, [3], object()])
def test_what_has_no_graph(root):
    with pytest.raises(TypeError, match=r"draw\(\) takes a Tensor, a Node, a GradientEdge or several, got"):
        draw(root)


def test_a_tensor_without_grad():
    with pytest.raises(RuntimeError, match=r"draw\(\): the tensor of shape \[3\] does not require grad"):
        draw(gs.ones(3))


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="no tensor"):
        draw([])


@pytest.mark.parametrize("params", [3, nn.Linear, [gs.ones(2)], {"w": 1.0}])
def test_names_of_nothing(params):
    with pytest.raises(TypeError, match=r"params.* must be a"):
        draw(chain(1), params)


@pytest.mark.parametrize(("limit", "error"), [("3", TypeError), (True, TypeError), (2.0, TypeError), (0, ValueError)])
def test_limits(limit, error):
    with pytest.raises(error, match="limit must be"):
        draw(chain(1), limit=limit)


def test_the_package_says_what_it_gives():
    assert drawing.__all__ == ["GraphDrawing", "draw"]
