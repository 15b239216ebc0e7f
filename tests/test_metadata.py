"""What the project says of itself is one thing, wherever it says it."""

import re
from pathlib import Path

import pytest

import gradsmith

ROOT = Path(gradsmith.__file__).resolve().parent.parent
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
HOME = "https://github.com/gradsmith/gradsmith"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def urls_of_the_project():
    section = PROJECT.partition("[project.urls]")[2].partition("\n[")[0]
    return dict(re.findall(r'^(\w+) = "(.*)"$', section, re.MULTILINE))


def test_urls():
    urls = urls_of_the_project()
    assert {"Homepage", "Documentation", "Changelog", "Source", "Issues"} <= set(urls)
    assert all(url.startswith(HOME) for url in urls.values())
    for url in urls.values():
        path = url.removeprefix(f"{HOME}/blob/main/")
        assert path.startswith("https:") or (ROOT / path).exists()


def test_the_citation():
    citation = read("CITATION.cff")
    assert f"version: {gradsmith.__version__}\n" in citation
    assert re.search(r'^license = "(.*)"$', PROJECT, re.MULTILINE).group(1) in citation
    assert f"repository-code: {HOME}\n" in citation


def test_supported_versions_of_python():
    low, high = map(int, re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', PROJECT).groups())
    classified = [int(version) for version in re.findall(r"Python :: 3\.(\d+)", PROJECT)]
    assert classified == list(range(low, high))
    assert f"Python 3.{low} to 3.{high - 1}" in " ".join(read("README.md").split())
    assert f"Python 3.{low} to 3.{high - 1}" in read("CONTRIBUTING.md")


@pytest.mark.parametrize(
    "name", ["CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"]
)
def test_a_source_distribution_has_it(name):
    assert (ROOT / name).exists()
    assert name in read("MANIFEST.in").splitlines()[1].split()


def test_targets_that_are_named_are_there():
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        assert set(re.findall(r"`?\bmake ([a-z-]+)\b(?=[ `:\n])", read(page))) <= targets | {"does"}, page
