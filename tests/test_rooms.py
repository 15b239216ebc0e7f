"""The rooms of the code: imports and cimports point down, and no room is crowded.

A room is a folder. `FLOORS` lists all rooms from the bottom up: a module may import from its own room and from those
above it in the list, whether at its top or inside a function. A circle between rooms needs an arrow that points up, so
there is none.
"""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FLOORS = (
    "compiling",
    "codegen.spec",
    "codegen.arrays",
    "codegen.formula",
    "codegen.resolve",
    "codegen.loops",
    "codegen.model",
    "codegen.algebra",
    "codegen.entries",
    "codegen.saving",
    "codegen.check",
    "codegen.build",
    "codegen.api",
    "codegen.views",
    "codegen.write",
    "codegen.table_files",
    "codegen.explain",
    "codegen.extension",
    "runtime.switches",
    "runtime.overrides",
    "runtime.arrays",
    "runtime.arrays.functions",
    "runtime.arrays.functions.algebra.factors",
    "runtime.arrays.functions.algebra.small_matrices",
    "runtime.arrays.functions.algebra",
    "runtime.arrays.functions.distances",
    "runtime.graph",
    "runtime.batching",
    "runtime.history",
    "runtime.engine",
    "runtime.calls",
    "runtime.tensors.factories",
    "runtime.tensors",
    "runtime.formulas",
    "runtime.formulas.statistics",
    "runtime.formulas.signals",
    "runtime.custom_function",
    "runtime.observers",
    "runtime.programs",
    "runtime.optim",
    "generated",
    "gradsmith.version",
    "gradsmith.collector",
    "gradsmith.unbuilt",
    "gradsmith.names",
    "gradsmith.profiler",
    "gradsmith.autograd",
    "gradsmith.nn",
    "gradsmith.nn.modules",
    "gradsmith.nn.parallel",
    "gradsmith.nn.utils",
    "gradsmith.optim",
    "gradsmith.random",
    "gradsmith.subscripts",
    "gradsmith.sparse",
    "gradsmith.counting",
    "gradsmith.segments",
    "gradsmith.low_rank",
    "gradsmith.numpy_functions",
    "gradsmith.in_place",
    "gradsmith.fft",
    "gradsmith.linalg",
    "gradsmith.signal",
    "gradsmith.special",
    "gradsmith.distributions",
    "gradsmith.stats",
    "gradsmith.masked",
    "gradsmith.utils",
    "gradsmith.quasirandom",
    "gradsmith.func",
    "gradsmith.control_flow.repeating",
    "gradsmith.control_flow",
    "gradsmith.futures",
    "gradsmith.distributed",
    "gradsmith.distributed.algorithms",
    "gradsmith.numpy",
    "gradsmith.amp",
    "gradsmith.cuda",
    "gradsmith.mps",
    "gradsmith.xpu",
    "gradsmith.accelerator",
    "gradsmith.backends",
    "gradsmith.jit",
    "gradsmith.compiler",
    "gradsmith.library",
    "gradsmith.multiprocessing",
    "gradsmith.parallel",
    "gradsmith.testing",
    "gradsmith.scipy",
    "gradsmith",
    "gradsmith.environment",
    "gradsmith.optimize",
    "gradsmith.array_api",
    "gradsmith.numpy_protocols.composed",
    "gradsmith.numpy_protocols",
    "gradsmith.utils.einops",
    "gradsmith.utils.opt_einsum",
    "gradsmith.extension",
    "gradsmith.compat",
    "gradsmith.serialization",
    "gradsmith.graph.saved",
    "gradsmith.graph",
    "gradsmith.verify",
    "codegen.__main__",
    "gradsmith.__main__",
)
LINKS = {"codegen", "compiling", "generated", "runtime"}  # folders at the top that the package has too
CROWDED = 16

STATEMENT = re.compile(r"^[ \t]*(?:from[ \t]+(\S+)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n#]*)|c?import[ \t]+(\S+))", re.M)
NOT_CODE = re.compile(r'"""(?:.|\n)*?"""')


def sources() -> dict[str, list[Path]]:
    """Module -> its files; a compiled one has a .pxd beside its .pyx."""
    found: dict[str, list[Path]] = {}
    for top in ("codegen", "compiling", "generated", "gradsmith", "runtime"):
        for path in sorted((ROOT / top).rglob("*")):
            parts = path.relative_to(ROOT).parts
            if path.suffix in (".py", ".pyx", ".pxd") and not (top == "gradsmith" and parts[1] in LINKS):
                name = ".".join((*parts[:-1], path.stem)).removesuffix(".__init__")
                found.setdefault(name, []).append(path)
    return found


MODULES = sources()


def imported(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(module or package, names) of each import that runs; relative ones with their dots."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from imported_by(ast.parse(text))
        return
    for base, names, module in STATEMENT.findall(NOT_CODE.sub("", text)):
        yield module or base, [name.split()[0] for name in names.strip("()").split(",") if name.strip()]


def imported_by(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or ""), [alias.name for alias in node.names]
    elif isinstance(node, ast.Import):
        yield from ((alias.name, []) for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported_by(child)


def absolute(base: str, path: Path) -> str:
    """The name by which `MODULES` knows a module."""
    if base.startswith("."):
        dots = len(base) - len(base.lstrip("."))
        package = path.relative_to(ROOT).parts[:-dots]
        return ".".join((*package, *filter(None, (base.lstrip("."),))))
    top, _, rest = base.partition(".")
    return rest if top == "gradsmith" and rest.partition(".")[0] in LINKS else base


@cache
def arrows() -> frozenset[tuple[str, str]]:
    return frozenset(each_arrow())


def each_arrow() -> Iterator[tuple[str, str]]:
    """(module, another that it imports)"""
    for module, paths in MODULES.items():
        for path in paths:
            for base, names in imported(path):
                package = absolute(base, path)
                for name in names or [""]:
                    target = next((m for m in (f"{package}.{name}", package) if m in MODULES), None)
                    if target and target != module:
                        yield module, target


def room_of(module: str) -> str:
    inside = [room for room in FLOORS if module == room or module.startswith(f"{room}.")]
    if module in ("codegen", "runtime", "runtime.arrays"):
        return FLOORS[0]  # a folder of rooms holds nothing itself
    assert inside, f"{module} is in no room: move it, or give its folder a place in FLOORS"
    return max(inside, key=len)


def test_every_module_is_in_a_room() -> None:
    strangers = [m for m in MODULES if m.startswith("gradsmith.") and m.count(".") == 1 and room_of(m) == "gradsmith"]
    assert not strangers, "these have no room of their own"
    assert {room_of(module) for module in MODULES} == set(FLOORS)


def test_imports_point_down() -> None:
    upward = sorted({(a, b) for a, b in arrows() if FLOORS.index(room_of(a)) < FLOORS.index(room_of(b))})
    assert not upward, "\n".join(f"{a} imports {b}, which is above it" for a, b in upward)


def test_the_picture_shows_all_rooms() -> None:
    """Of codegen, in this order; those of one module are not drawn."""
    from docs.pictures.pipeline import ROOMS

    drawn = [room.removeprefix("codegen.") for room in FLOORS if (ROOT / room.replace(".", "/")).is_dir()]
    assert [room for room in drawn if (ROOT / "codegen" / room / "__init__.py").exists()] == list(ROOMS)


def test_the_arrows_are_seen() -> None:
    """The test above would not notice anything if it saw nothing."""
    found = arrows()
    assert ("runtime.engine.engine", "runtime.graph.tensor") in found  # cimport
    assert ("runtime.graph.tensor", "runtime.graph.printing") in found  # inside a function
    assert ("codegen.build.build", "codegen.spec.errors") in found  # relative
    assert ("generated.arithmetic", "runtime.graph.tensor") in found


FOLDERS = sorted(
    {
        path.parent
        for top in ("benchmarks", "codegen", "compiling", "gradsmith", "runtime")
        for path in (ROOT / top).rglob("*")
        if path.suffix in (".py", ".pyx", ".c") and "generated" not in path.parts
    }
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_a_room_is_not_crowded(folder: Path) -> None:
    suffixes = (".py", ".pyx", ".pxd", ".c", ".h")
    modules = {path.stem for path in folder.iterdir() if path.suffix in suffixes} - {"__init__", "__main__"}
    assert len(modules) <= CROWDED, f"{len(modules)} modules: {', '.join(sorted(modules))}"


@pytest.mark.parametrize("room", [room for room in FLOORS if (ROOT / room.replace(".", "/")).is_dir()])
def test_a_room_says_what_may_live_in_it(room: str) -> None:
    init = ROOT / room.replace(".", "/") / "__init__.py"
    doc = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))
    assert doc and len(doc.splitlines()[0]) <= 120


def test_no_folder_of_tests_is_passed_over(pytestconfig: pytest.Config) -> None:
    """pytest leaves folders of some names out, such as `build`, unless it is told otherwise."""
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
    patterns = pytestconfig.getini("norecursedirs")
    assert not {
        folder for folder in folders if any(fnmatch(part, pattern) for part in folder.parts for pattern in patterns)
    }


# ---- what comments name

NAMED_FILE = re.compile(r"\b(\w+\.(?:pyx|pxd|py|j2))\b(?!\.\w)")


@pytest.mark.parametrize("folder", ["runtime", "compiling", "gradsmith"])
def test_files_that_are_named_are_there(folder: str) -> None:
    """A reader who follows a comment must find the file; examples of other packages' files are named below."""
    there = {path.name for top in (*LINKS, "gradsmith", "tests", "docs") for path in (ROOT / top).rglob("*")}
    there |= {"setup.py", "waves.pyx"}
    texts = [
        p for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".pyx", ".pxd", ".h", ".c") and not p.is_symlink()
    ]
    missing = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in texts
        for name in NAMED_FILE.findall(path.read_text(encoding="utf-8"))
        if name not in there
    }
    assert not missing
