"""A generated module imports what it uses, and nothing else."""

import re
from pathlib import Path

import pytest

from codegen.write.used_imports import with_one_import, with_used_imports

GENERATED = sorted((Path(__file__).parents[3] / "generated").glob("*.pyx"))


def test_names_that_no_code_uses_are_left_out() -> None:
    text = 'from a cimport (\n    one,\n    two,\n)\nfrom b cimport three\n\n"""two"""\none()  # three\n'
    assert with_used_imports(text) == 'from a cimport one\n\n"""two"""\none()  # three\n'


def test_a_second_name_is_the_one_that_counts() -> None:
    text = "from a import one as first, two as second\nfirst(two)\n"
    assert with_used_imports(text) == "from a import one as first\nfirst(two)\n"


def test_modules_are_imported_whether_used_or_not() -> None:
    assert with_used_imports("import a\ncimport b\n") == "import a\ncimport b\n"


def test_long_lists_fill_their_lines() -> None:
    names = [f"a_rather_long_name_{i}" for i in range(9)]
    text = f"from a cimport {', '.join(names)}\n{' + '.join(names)}\n"
    lines = with_used_imports(text).splitlines()
    assert lines[0] == "from a cimport (" and lines[3] == ")"
    assert lines[1] == f"    {', '.join(names[:5])}," and lines[2] == f"    {', '.join(names[5:])},"


def test_names_of_many_modules_come_from_one() -> None:
    text = "from a cimport b, c\nfrom d cimport (\n    e,\n)\nfrom d import f\nfrom g cimport h\n\nb(c, e, f, h)\n"
    assert with_one_import(text, "m", frozenset("bce")) == (
        "from m cimport b, c, e\nfrom d import f\nfrom g cimport h\n\nb(c, e, f, h)\n"
    )


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem)
def test_generated_modules_import_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert with_used_imports(text) == text
    assert re.search(r"(?m)^from ", text)
