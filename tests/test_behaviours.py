"""Pages that say which test shows a behaviour: every test named is there, every number has its row.

A heading names the numbers of its section, as in ``## Engine (R20-R40)``: each has one row
``| R20 | what | tests |`` there. A test is named in backticks as ``tests/folder/test_file.py::test_name``, with
``Class::`` before the name of a method, and ``[case]`` after it where a case of a parametrised test is meant. Where no
test makes sense, the row says why.
"""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "tests").glob("*behaviours.md"))

# The numbers of PyTorch's behaviours in tests/behaviours.md.
RUNTIME = [("R1", "R17"), ("R20", "R53"), ("R60", "R70"), ("R80", "R93"), ("R100", "R122"), ("R130", "R138")]
RUNTIME += [("H1", "H14"), ("F1", "F14"), ("E1", "E62")]

NAMED_TEST = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>\w+(?:::\w+)?)(?:\[(?P<case>[^\]`]+)\])?`")
HEADING = re.compile(r"^## (?P<title>.*?)(?: \((?P<first>[A-Z]\d+)-(?P<last>[A-Z]\d+)\))?$")
ROW = re.compile(r"^\| (?P<id>[A-Z]\d+) \| (?P<cells>.*) \|$")


# ---- what a page says


def sections(text):
    """(title, expected numbers, rows as pairs of a number and the other cells) of each section."""
    found = []
    for line in text.splitlines():
        if heading := HEADING.match(line):
            found.append((heading["title"], numbers(heading["first"], heading["last"]), []))
        elif row := ROW.match(line):
            found[-1][2].append((row["id"], row["cells"]))
    return found


def numbers(first, last):
    if first is None:
        return []
    assert first[0] == last[0], f"{first}-{last}"
    return [f"{first[0]}{number}" for number in range(int(first[1:]), int(last[1:]) + 1)]


def wrong_numbers(text):
    """Complaints about rows that are missing, twice, or where nobody expects them."""
    complaints = []
    for title, expected, rows in sections(text):
        found = [number for number, _ in rows]
        complaints += [f"{title}: {number} is missing" for number in expected if number not in found]
        complaints += [f"{title}: {number} is none of its numbers" for number in found if number not in expected]
        complaints += [f"{title}: {number} has two rows" for number in set(found) if found.count(number) > 1]
    return complaints


def wrong_tests(text):
    """Complaints about what is named as a test and is none, and about rows without test and reason."""
    mentions = [mention for mention in re.findall(r"`[^`]*`", text) if mention.startswith("`tests/")]
    complaints = [complaint for mention in mentions if (complaint := why_not_a_test(mention))]
    for line in text.splitlines():
        if line.startswith("| ") and not re.split(r"(?<!\\)\|", line)[-2].strip():
            complaints.append(f"{line}: no test, and no reason")
    return complaints


# ---- which tests there are


def why_not_a_test(mention):
    """None when the words between backticks name a test that is there."""
    if mention == "`tests/test_behaviours.py`":
        return None
    named = NAMED_TEST.fullmatch(mention)
    if named is None:
        return f"{mention} does not read `tests/folder/test_file.py::test_name`"
    if not (ROOT / named["file"]).is_file():
        return f"{mention}: no such file"
    tests, words = contents(named["file"])
    if named["name"] not in tests:
        return f"{mention}: no such test"
    if named["case"] and named["case"] not in words and not case_file(named["file"], named["case"]).is_file():
        return f"{mention}: no such case"
    return None


def case_file(file, case):
    """The path of a case that the test finds in a folder: tables that the generator refuses."""
    return (ROOT / file).parent / "fail" / f"{case}.yaml"


@functools.cache
def contents(file):
    """Names of the tests in a file; and all names and texts in it, among which are the cases of parametrised tests."""
    module = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = set(names_of_tests(module.body))
    for scope in module.body:
        if isinstance(scope, ast.ClassDef) and scope.name.startswith("Test"):
            tests |= {f"{scope.name}::{name}" for name in names_of_tests(scope.body)}
    words = {node.name for node in ast.walk(module) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    words |= {node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return tests, words


def names_of_tests(body):
    return [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]


# ---- the pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_has_its_row(page):
    assert wrong_numbers(page.read_text(encoding="utf-8")) == []


def test_no_section_is_missing():
    page = (ROOT / "tests" / "behaviours.md").read_text(encoding="utf-8")
    found = [number for _, expected, _ in sections(page) for number in expected]
    assert sorted(found) == sorted(number for first, last in RUNTIME for number in numbers(first, last))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_is_named_is_there(page):
    assert wrong_tests(page.read_text(encoding="utf-8")) == []


# ---- the reading itself


def test_mistakes_in_numbers_are_found():
    text = "## Some (R1-R3)\n| R1 | what | why |\n| R3 | what | why |\n| R3 | what | why |\n| R7 | what | why |\n"
    assert sorted(wrong_numbers(text)) == [
        "Some: R2 is missing",
        "Some: R3 has two rows",
        "Some: R7 is none of its numbers",
    ]


def test_mistakes_in_names_are_found():
    here = "tests/test_behaviours.py"
    assert why_not_a_test(f"`{here}::test_mistakes_in_names_are_found`") is None
    assert "no such test" in why_not_a_test(f"`{here}::test_of_nothing`")
    assert "no such test" in why_not_a_test(f"`{here}::TestNothing::test_of_nothing`")
    assert "no such file" in why_not_a_test("`tests/runtime/test_of_nothing.py::test_x`")
    assert "does not read" in why_not_a_test("`tests/runtime/engine/test_engine.py`")
    refused = "tests/runtime/test_error_conditions.py::test_refused"
    assert why_not_a_test(f"`{refused}[a_view_is_detached_in_place]`") is None
    assert "no such case" in why_not_a_test(f"`{refused}[a_view_is_left_alone]`")
    bad_table = "tests/codegen/test_errors.py::test_bad_table"
    assert why_not_a_test(f"`{bad_table}[duplicate_key]`") is None
    assert "no such case" in why_not_a_test(f"`{bad_table}[duplicate_lock]`")


def test_a_row_needs_a_test_or_a_reason():
    assert wrong_tests("| R1 | what | a reason |\n| R2 |  | a reason |\n| no number | a reason |\n") == []
    assert wrong_tests("| R1 | what |  |\n") == ["| R1 | what |  |: no test, and no reason"]
    assert wrong_tests("| no number |  |\n") == ["| no number |  |: no test, and no reason"]
