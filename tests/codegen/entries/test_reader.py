"""YAML text to raw entries that know the position of everything."""

import re
from pathlib import Path

import pytest
import yaml

from codegen.entries import reader
from codegen.entries.reader import RawEntry, read, read_file
from codegen.spec.errors import Collector, Position, SpecErrors

TEXT = """\
arithmetic:

# a comment (with one parenthesis
- name: mul(Tensor self, Tensor|Scalar other) -> Tensor
  forward: ufunc(multiply)
  self: grad * conj(other)
  self, other: >-
    f(grad,
      self)
  variants: [function, method]
  operators: {binary: __mul__, reflected: __rmul__}
  samples: ['real(3, 4), other=[real(1, 2), ''x'']', 'self="real(3)"']
  doc: 'Product: of two.'
reduce: []
"""


def read_one(text: str) -> RawEntry:
    errors = Collector("derivatives.yaml")
    entries = read(text, errors)
    errors.raise_if_any()
    (entry,) = entries
    return entry


def test_texts_and_positions() -> None:
    entry = read_one(TEXT)
    assert (entry.family, entry.base, entry.position) == ("arithmetic", "mul", Position(4, 3))
    assert entry.name.text == "mul(Tensor self, Tensor|Scalar other) -> Tensor"
    assert entry.name.position == Position(4, 9)
    assert entry.texts["doc"].text == "Product: of two."
    assert entry.texts["doc"].position == Position(13, 8)
    assert entry.expect_text("complex") is None


def test_lists_and_mappings() -> None:
    entry = read_one(TEXT)
    assert [t.text for t in entry.lists["variants"]] == ["function", "method"]
    assert [(k.text, v.text) for k, v in entry.operators] == [("binary", "__mul__"), ("reflected", "__rmul__")]
    assert entry.operators[1][1].position == Position(11, 43)


def test_other_keys_are_formulas() -> None:
    formulas = [(key.text, value.text) for key, value in read_one(TEXT).formulas]
    assert formulas == [("self", "grad * conj(other)"), ("self, other", "f(grad, self)")]


def test_samples_are_texts() -> None:
    samples = [sample.text for sample in read_one(TEXT).samples]
    assert samples == ["real(3, 4), other=[real(1, 2), 'x']", 'self="real(3)"']


def test_one_sample_needs_no_list() -> None:
    (entry,) = read("unary:\n- name: f\n  samples: real(3, 4), other=2.5\n", Collector("t"))
    assert [sample.text for sample in entry.samples] == ["real(3, 4), other=2.5"]


def test_any_tool_reads_the_table() -> None:
    table = yaml.safe_load((Path(__file__).parents[3] / "derivatives.yaml").read_text(encoding="utf-8"))
    samples = [entry["samples"] for family in table.values() for entry in family if "samples" in entry]
    assert all(isinstance(text, str) for some in samples for text in ([some] if isinstance(some, str) else some))


@pytest.mark.parametrize(
    ("offset", "line", "column"),
    [(0, 8, 5), (2, 8, 7), (7, 8, 12), (8, 9, 7), (12, 9, 11)],
)
def test_position_in_a_folded_text(offset: int, line: int, column: int) -> None:
    _, text = read_one(TEXT).formulas[1]
    # The block begins at its mark, so offsets are those of `f(grad, self)`.
    assert text.position_of(offset) == Position(line, column)


def test_position_in_a_quoted_text() -> None:
    assert read_one(TEXT).texts["doc"].position_of(9) == Position(13, 18)


def test_both_loaders_of_yaml_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = read_one(TEXT)
    monkeypatch.setattr(reader, "_Loader", yaml.SafeLoader)
    assert read_one(TEXT) == entry


def test_a_text_that_looks_like_another_type_stays_a_text() -> None:
    entry = read_one("copy:\n- name: f(Tensor self) -> Tensor\n  self: 0.50\n  doc: yes\n")
    assert entry.formulas[0][1].text == "0.50"
    assert entry.texts["doc"].text == "yes"


def test_a_broken_entry_does_not_hide_the_next() -> None:
    errors = Collector("derivatives.yaml")
    entries = read("copy:\n- forward: x\n- name: f(Tensor self) -> Tensor\n", errors)
    assert [entry.base for entry in entries] == ["f"]
    assert errors


def test_brackets_inside_quotes_are_left_alone() -> None:
    """A half-open interval has a parenthesis that nothing closes."""
    (entry,) = read("exponential:\n- name: f\n  domain: {self: '(0, 1]', other: '[0, 1)'}\n", Collector("t"))
    assert [(key.text, value.text) for key, value in entry.pairs["domain"]] == [("self", "(0, 1]"), ("other", "[0, 1)")]


def test_a_mark_of_byte_order_moves_nothing() -> None:
    text = "unary:\n- name: neg(Tensor self) -> Tensor\n  samples: real(3, 4)\n"
    plain, marked = (read(mark + text, Collector("t.yaml")) for mark in ("", "\ufeff"))
    assert plain == marked and plain[0].samples[0].text == "real(3, 4)"


@pytest.mark.parametrize(("character", "shown"), [("\0", "U+0000"), ("\x07", "U+0007")])
def test_characters_that_no_table_may_have(character: str, shown: str) -> None:
    errors = Collector("t.yaml")
    assert read(f"unary:\n- name: neg{character}(Tensor self)", errors) == ()
    with pytest.raises(
        SpecErrors, match=rf"^t\.yaml:2:12: has the character {re.escape(shown)}, which no table may have"
    ):
        errors.raise_if_any()


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    table = tmp_path / "latin.yaml"
    table.write_bytes("# für\nunary:\n- doc: größer\n".encode("latin1").replace(b"f\xfcr", b"fuer"))
    with pytest.raises(SpecErrors, match=r"^latin\.yaml:3:10: is not UTF-8\.$"):
        read_file(table, "latin.yaml")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_ends_of_lines(tmp_path: Path, end: str) -> None:
    table = tmp_path / "ends.yaml"
    table.write_bytes(f"unary:{end}- a{end}".encode())
    assert read_file(table).splitlines() == ["unary:", "- a"] and "\r" not in read_file(table)
