"""Every page is true: its sessions run, its made parts are up to date, what it quotes and links to is there."""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import code_blocks
import pictures
import pytest
import reference
import update

from codegen.spec.errors import SpecErrors
from codegen.spec.vocabulary import scan_functions

ROOT = code_blocks.ROOT
TABLE = ROOT / "derivatives.yaml"
DOCS = update.all_pages()
OTHERS = [*sorted((ROOT / "tests").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
PAGES = [*DOCS, update.STEPS, *OTHERS, ROOT / "SECURITY.md", ROOT / "benchmarks" / "README.md"]


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.mark.long
@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_sessions_print_what_the_page_says(page):
    report = code_blocks.failure_of(page)
    assert not report, report


@pytest.mark.long
def test_made_pages_are_up_to_date():
    assert [name_of(page) for page in update.stale(update.everything_made())] == [], "run `make docs`"


@pytest.mark.parametrize("name", ["README.md", "docs/internals/architecture.md"])
def test_quoted_entries_stand_in_a_table(name):
    tables = [table.read_text(encoding="utf-8") for table in (TABLE, *sorted((ROOT / "examples").glob("*.yaml")))]
    quoted = [block for block in code_blocks.blocks_of(ROOT / name) if block.language == "yaml"]
    assert quoted
    for block in quoted:
        assert any(block.text in table for table in tables), f"{name}:{block.line}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", prose) if not target.startswith("http")]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


NOTE = r"Note \[([A-Z][\w' -]+)\]"


@cache
def notes():
    """The titles of all notes in the sources."""
    sources = [path for folder in ("runtime", "codegen", "gradsmith") for path in (ROOT / folder).rglob("*")]
    found = set()
    for path in sources:
        if path.suffix in (".py", ".pyx", ".pxd", ".c", ".h") and path.is_file():
            found.update(re.findall(f"{NOTE}\n", path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_notes_that_are_named_are_there(page):
    named = set(re.findall(NOTE, page.read_text(encoding="utf-8")))
    assert sorted(named - notes()) == []


def test_message_in_the_readme_is_the_generators():
    quoted = [block for block in code_blocks.blocks_of(ROOT / "README.md") if block.language == "text"]
    [message] = [block.text for block in quoted if "Did you mean" in block.text]
    table = TABLE.read_text(encoding="utf-8").replace("conj(1 - result * result)", "conj(1 - resutl * result)")
    functions = scan_functions(ROOT / "runtime/arrays/functions")
    with pytest.raises(SpecErrors) as raised:
        update.load_table(table, file="derivatives.yaml", functions=functions)
    place = re.compile(r":\d+:\d+:")
    assert place.sub("", message.strip()) == place.sub("", str(raised.value))


@pytest.mark.parametrize("name", ["docs/glossary.md", "docs/internals/architecture.md"])
def test_files_that_are_named_are_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:codegen|runtime|gradsmith|tests|compiling|benchmarks)/[\w./]*)`", text))
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_decision_is_in_the_index_and_short():
    folder = ROOT / "docs" / "internals" / "decisions"
    pages = {page.name for page in folder.glob("*.md")} - {"README.md"}
    listed = re.findall(r"^- \[[^]]+\]\((\w+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(pages)
    assert {page for page in pages if (folder / page).read_text(encoding="utf-8").count("\n") > 80} == set()


# ---- pictures


def test_every_picture_is_made_by_a_script_of_its_name():
    made = {path.name for path in pictures.pictures()}
    assert {path.name for path in pictures.FOLDER.glob("*.svg")} == made
    assert {path.stem for path in pictures.FOLDER.glob("*.py")} - {"__init__", "svg"} == {
        Path(name).stem for name in made
    }


@pytest.mark.parametrize("path", sorted(pictures.FOLDER.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_has_a_title_and_a_description(path):
    root = ElementTree.parse(path).getroot()
    words = {element.tag.rpartition("}")[2]: element.text for element in root}
    assert words["title"] and words["desc"]
    assert root.get("aria-labelledby") == "title description"


# ---- the tools themselves


def page_of(folder, text):
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_a_wrong_output_is_found(tmp_path):
    report = code_blocks.failure_of(page_of(tmp_path, "Text\n\n```python\n>>> 1 + 1\n3\n```\n"))
    assert "line 4" in report and "Expected:\n    3" in report


def test_blocks_of_a_page_are_one_session(tmp_path):
    text = "```python\n>>> a = 1\n```\n\n```python\n>>> a\n1\n```\n"
    assert code_blocks.failure_of(page_of(tmp_path, text)) == ""


def test_only_the_first_failure_is_reported(tmp_path):
    text = "```python\n>>> a\n>>> b\n```\n\n```python\n>>> c\n```\n"
    assert code_blocks.failure_of(page_of(tmp_path, text)).count("NameError") == 1


def test_a_block_that_is_never_closed_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"page.md:3: this block is never closed"):
        code_blocks.blocks_of(page_of(tmp_path, "Text\n\n```python\n>>> 1\n"))


def test_a_made_part_needs_its_marks():
    assert reference.spliced("a\n<!-- t -->\nold\n<!-- /t -->\nb", "t", lambda: "new") == (
        "a\n<!-- t -->\nnew\n<!-- /t -->\nb"
    )
    with pytest.raises(ValueError, match="<!-- t -->"):
        reference.spliced("no marks", "t", lambda: "new")
