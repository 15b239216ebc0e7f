"""Tensors as notebooks show them: names are escaped, and the size is bounded."""

from html.parser import HTMLParser

import pytest

import gradsmith as gs


class Table(HTMLParser):
    """The cells of each row, and the text before the table."""

    def __init__(self, html):
        super().__init__()
        self.heading, self.rows, self.open = "", [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ("div", "strong", "code", "table", "tr", "th", "td", "em") and not attrs
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.rows:
            self.rows[-1][-1] += data
        else:
            self.heading += data


def shown(tensor):
    return Table(tensor._repr_html_())


def test_a_matrix():
    table = shown(gs.tensor([[1.0, 2.5], [3.0, -4.0]]))
    assert table.heading == "Tensor [2, 2] · float32"
    assert table.rows == [["", "0", "1"], ["0", "1.0000", "2.5000"], ["1", "3.0000", "-4.0000"]]


def test_a_number_and_a_vector():
    assert shown(gs.tensor(3)).rows == [["", "3"]]
    assert shown(gs.arange(3)).rows == [["", "0", "1", "2"], ["", "0", "1", "2"]]


def test_history():
    x = gs.ones(2, requires_grad=True)
    assert shown(x).heading.endswith("requires_grad=True")
    assert shown(x * 2).heading.endswith("grad_fn=<MulBackward0>")


def test_more_dimensions_are_rows_named_by_their_indices():
    table = shown(gs.arange(12).reshape(2, 3, 2))
    assert [row[0] for row in table.rows] == ["", "0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2"]
    assert table.rows[-1] == ["1, 2", "10", "11"]


def test_large_tensors_are_shortened():
    table = shown(gs.arange(10_000).reshape(10, 10, 100))
    assert len(table.rows) == 10 and {len(row) for row in table.rows} == {10}
    assert [row[0] for row in table.rows] == ["", "0, 0", "0, 1", "0, 2", "0, 3", "…", "9, 6", "9, 7", "9, 8", "9, 9"]
    assert table.rows[0][4:7] == ["3", "…", "96"]
    assert table.rows[-1][-1] == "9999"


def test_size_is_bounded_and_nothing_large_is_copied():
    assert len(gs.zeros(1).expand(1 << 30, 1 << 10)._repr_html_()) < 3000


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_no_elements(shape):
    table = shown(gs.zeros(*shape))
    assert table.rows == [] and table.heading.endswith("no elements")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64", "complex128"])
def test_every_dtype(dtype):
    table = shown(gs.ones(2, 2, dtype=getattr(gs, dtype)))
    assert dtype in table.heading and len(table.rows) == 3


def test_numbers_that_are_none():
    assert shown(gs.tensor([float("nan"), float("inf"), 1.5])).rows[1] == ["", "nan", "inf", "1.5000"]


def test_tensors_without_data():
    assert shown(gs.ones(2, 3, device="meta")).heading == "Tensor [2, 3] · float32 · device='meta'"
    seen = []
    gs.vmap(lambda row: (seen.append(shown(row)), row)[1])(gs.ones(2, 3))
    assert seen[0].heading == "Tensor [3] · float32 · batched" and seen[0].rows == []


def test_an_indexed_gradient():
    weight = gs.ones(5, 2, requires_grad=True)
    gs.nn.functional.embedding(gs.tensor([1, 3]), weight, sparse=True).sum().backward()
    assert shown(weight.grad).heading.endswith("nnz=2")
    assert weight.grad.is_sparse


def test_names_are_escaped():
    cls = type("<script>alert(1)</script>", (gs.Tensor,), {})
    html = gs.ones(2).as_subclass(cls)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_a_view_that_may_not_be_used_can_be_looked_at():
    x = gs.ones(4, requires_grad=True)
    first, _ = (x * 1).split(2)
    assert "SplitBackward0" in first._repr_html_()
