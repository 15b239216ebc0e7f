"""Generated lines keep to 120 columns, and long ones are broken where a reader expects it."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.write.line_width import WIDTH, within_width

GENERATED = sorted((Path(__file__).parents[3] / "generated").glob("*.pyx"))
LONG = "an_argument_with_a_long_name"


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_no_generated_line_is_longer(path: Path) -> None:
    assert [line for line in path.read_text().splitlines() if len(line) > WIDTH] == []


def test_a_call_is_broken_at_its_brackets() -> None:
    inner = f"g({LONG}, {LONG}, {LONG})"
    assert within_width(f"    return some_function({inner}, h())").splitlines() == [
        "    return some_function(",
        f"        {inner}, h()",
        "    )",
    ]


def test_arguments_that_do_not_fit_together_have_a_line_each() -> None:
    inner = f"g({LONG}, {LONG}, {LONG})"
    assert within_width(f"    set({inner}, {inner})").splitlines() == [
        "    set(",
        f"        {inner},",
        f"        {inner},",
        "    )",
    ]


def test_parameters_end_without_a_comma() -> None:
    lines = within_width(f"cdef int f({', '.join(f'object {LONG}_{i}' for i in range(5))}) except -1:").splitlines()
    assert lines[0] == "cdef int f(" and lines[-2].endswith("_4") and lines[-1] == ") except -1:"


def test_what_follows_the_brackets_is_broken_too() -> None:
    call = f"f({LONG}, {LONG[:19]})"
    assert within_width(f"x = {call} if {call} else {call}").splitlines() == [
        f"x = {call} if {call} else f(",
        f"    {LONG}, {LONG[:19]}",
        ")",
    ]


def test_branches_of_a_deep_conditional_have_a_line_each() -> None:
    indent = " " * 60
    call = f"f({LONG}, {LONG[:19]})"
    assert within_width(f"{indent}{LONG} if {LONG} else {call}, 1").splitlines() == [
        f"{indent}{LONG}",
        f"{indent}if {LONG}",
        f"{indent}else {call}, 1",
    ]


def test_a_comment_moves_before_its_statement() -> None:
    comment = f"# self: {LONG} * {LONG} * {LONG}"
    assert within_width(f"    if wants(wanted, 0):    {comment}").splitlines() == [
        f"    {comment}",
        "    if wants(wanted, 0):",
    ]


def test_brackets_and_commas_in_strings_are_text() -> None:
    text = '"' + "(, " * 28 + '"'
    assert within_width(f"a_function({text}, {LONG})").splitlines() == ["a_function(", f"    {text}, {LONG}", ")"]


def test_docstrings_are_broken_between_words() -> None:
    text = within_width(f'    """{"word " * 40}"""')
    assert [line[:8] for line in text.splitlines()] == ['    """w', "    word"] and text.split() == ['"""word'] + [
        "word"
    ] * 39 + ['"""']


@pytest.mark.parametrize(
    "value",
    [
        f"[{LONG} * b if {LONG} is None else a * {LONG}_2 for a, b in zip({LONG}, {LONG}_3, strict=True)]",
        f"tuple({LONG} + {LONG}_2 + {LONG}_3 + {LONG}_4 for a, b, {LONG} in pairs)",
        f"f(lambda a, b: g({LONG}, {LONG}, a), {LONG}, h({LONG}, {LONG}_2, lambda c, d: c))",
        f'({LONG}, "a text, with [commas", {LONG}, {LONG}, {{1: {LONG}, 2: ({LONG},)}})',
    ],
)
def test_broken_code_means_the_same(value: str) -> None:
    code = f"result = {value}"
    broken = within_width(code)
    assert len(code) <= WIDTH or "\n" in broken
    assert ast.dump(ast.parse(broken)) == ast.dump(ast.parse(code))


_expressions = st.recursive(
    st.sampled_from(["a", "b.c", "'text, ('", LONG[:30], LONG]),
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("({},)".format, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("[{}]".format, inner),
        st.builds("{{1: {}}}".format, inner),
        st.builds("f({})".format, inner),
        st.builds("f({}, *{}, k={})".format, inner, inner, inner),
        st.builds("x[{}]".format, inner),
        st.builds("x[{}, 1]".format, inner),
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{} for a in {}]".format, inner, inner),
        st.builds("f(lambda a, b: {})".format, inner),
    ),
    max_leaves=12,
)


@given(_expressions)
def test_any_broken_expression_means_the_same(value: str) -> None:
    code = f"result = {value}"
    assert ast.dump(ast.parse(within_width(code))) == ast.dump(ast.parse(code))


def test_a_message_longer_than_a_line_goes_on_in_further_literals() -> None:
    words = " ".join(["more"] * 40)
    broken = within_width(f'            raise RuntimeError("f(): {words}, but got n = %r" % (n,))')
    assert max(map(len, broken.split("\n"))) <= WIDTH
    assert broken.count('"') == 2 * 3
    with pytest.raises(RuntimeError, match=f"^f\\(\\): {words}, but got n = 3$"):
        exec(dedent(broken), {"n": 3})
