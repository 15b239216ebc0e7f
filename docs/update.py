"""Bring the documentation up to date, and run the examples in it.

python docs/update.py            write the pages and pictures that are made, run the sessions of all pages
python docs/update.py --check    write nothing; fail when a page or a picture is not up to date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from code_blocks import failure_of
from page_parts import REFERENCE, ROOT
from pictures import pictures
from reference import pages

from codegen.build.build import load_table

TABLE = ROOT / "derivatives.yaml"
# Its steps change the project, so a test carries it out on a copy.
STEPS = ROOT / "docs" / "tutorial" / "add_an_op.md"


def all_pages() -> list[Path]:
    return [ROOT / "README.md", *sorted(set((ROOT / "docs").rglob("*.md")) - {STEPS})]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Bring the documentation up to date, and run the examples in it.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is not up to date")
    options = parser.parse_args(arguments)
    made = everything_made()
    return check(made) if options.check else write(made) + run(all_pages())


def everything_made() -> dict[Path, str]:
    """Path -> text of every page and picture that is made."""
    return pages(load_table(TABLE)) | pictures()


def stale(made: dict[Path, str]) -> list[Path]:
    """Files whose text on disk differs, and those of families that are gone."""
    changed = [page for page, text in made.items() if not page.exists() or page.read_text(encoding="utf-8") != text]
    return [*changed, *sorted(set((REFERENCE / "ops").glob("*.md")) - made.keys())]


def check(made: dict[Path, str]) -> int:
    wrong = stale(made)
    for page in wrong:
        print(f"{page.relative_to(ROOT)} is not up to date: run `make docs`.")
    return 1 if wrong else 0


def write(made: dict[Path, str]) -> int:
    for page in stale(made):
        if page in made:
            page.parent.mkdir(exist_ok=True)
            page.write_text(made[page], encoding="utf-8", newline="\n")
        else:
            page.unlink()
        print(f"{'written' if page in made else 'removed'}  {page.relative_to(ROOT)}")
    return 0


def run(pages_to_run: list[Path]) -> int:
    """Run every session; the number of pages that are not true."""
    wrong = 0
    for page in pages_to_run:
        report = failure_of(page)
        print(f"{'FAILED ' if report else 'ran    '}  {page.relative_to(ROOT)}")
        if report:
            print(report)
            wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
