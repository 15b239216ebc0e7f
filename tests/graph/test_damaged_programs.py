"""Files of programs that are damaged or made up: refused with one error, and never a crash."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.serialization.errors import CorruptFileError
from tests.graph.damage import (
    PROGRAM,
    archive_of,
    parts_of,
    with_other_arrays,
    with_other_bytes,
    with_other_structure,
    with_program,
)

SCALE = gs.tensor([[1.0, 2.0, 3.0]])
RUNS = 1000  # of each kind of damage


def scaled(x: Any) -> Any:
    """Its forward: mul, tanh, sum."""
    return (x * SCALE).tanh().sum(1)


def file_of(function: Any, *args: Any) -> bytes:
    file = io.BytesIO()
    gs.graph.save(function, args, file)
    return file.getvalue()


@pytest.fixture(scope="module")
def data() -> bytes:
    return file_of(scaled, gs.ones(2, 3, requires_grad=True))


def refuse(file: io.BytesIO, words: str = "load: ") -> None:
    with pytest.raises(CorruptFileError, match=words):
        gs.graph.load(file)


# ---- the archive


def test_files_that_are_cut_off(data: bytes) -> None:
    for end in [*range(0, len(data) - 1, max(len(data) // 60, 1)), len(data) - 1]:
        refuse(io.BytesIO(data[:end]))


def test_archives_of_something_else(data: bytes) -> None:
    file = io.BytesIO()
    gs.save({"a": gs.ones(2)}, file)
    refuse(file, "has no member 'program.json'")
    refuse(io.BytesIO(b"not a file of ours"))
    parts = parts_of(data)
    refuse(archive_of({**parts, "more.npy": b""}), "members that the program does not mention")
    refuse(archive_of(parts, zipfile.ZIP_DEFLATED), "is packed, which it should not be")
    refuse(archive_of({PROGRAM: parts[PROGRAM]}), "has no member '0.npy'")


def test_arrays_of_other_sizes_and_dtypes(data: bytes) -> None:
    def with_array(array: Any, **options: Any) -> io.BytesIO:
        file = io.BytesIO()
        np.save(file, array, **options)
        return archive_of({**parts_of(data), "0.npy": file.getvalue()})

    assert gs.graph.load(with_array(np.ones((1, 3), ">f4")))(gs.zeros(2, 3)).tolist() == [0.0, 0.0]
    refuse(with_array(np.ones((2, 2), np.float32)), "mul")
    refuse(with_array(np.ones((1, 3))), "mul gives float64")
    refuse(with_array(np.array([[None] * 3]), allow_pickle=True), "of which there are no tensors")
    huge = (
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117)
        + b"\n"
    )
    refuse(archive_of({**parts_of(data), "0.npy": huge}), "has 0 bytes for an array of shape")


# ---- the JSON


def test_text_that_is_no_json(data: bytes) -> None:
    parts = parts_of(data)
    text = parts[PROGRAM]
    for damaged in [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        text.replace(b'"version":1', b'"version":1,"version":1'),
    ]:
        refuse(archive_of({**parts, PROGRAM: damaged}))
    for number in [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1" * 5000]:
        refuse(archive_of({**parts, PROGRAM: text.replace(b'"version":1', b'"version":' + number)}))


def change_of(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_of("version", to=2), "not of version 1 of the format"),
        (change_of("format", to="gradsmith"), "is no program"),
        (change_of("more", to=1), "other parts than a program has"),
        (change_of("ops", 0, 0, to="no_such_op"), "there is no op 'no_such_op'; it was saved by gradsmith"),
        (change_of("ops", 0, 0, to="__class__"), "there is no op"),
        (change_of("ops", 0, 1, to="0123456789abcdef"), "means something else than in the file.* Save it again"),
        (change_of("kinds", 0, to=["float32", [2**40, 2**40]]), "a value is too large"),
        (change_of("kinds", 0, to=["float32", [-1]]), "which is not a count"),
        (change_of("kinds", 0, to=["object", [2]]), "no tensors of dtype 'object'"),
        (change_of("kinds", 0, to=["float32", [2, 4]]), "mul refuses its arguments"),
        (change_of("forward", 0, 1, 0, to={"value": 2}), "a value is used before there is one"),
        (change_of("forward", 0, 1, 0, to={"value": True}), "which is not a count"),
        (change_of("forward", 0, 1, 0, to={"open": "/etc/passwd"}), "which is not known"),
        (change_of("forward", 0, 1, 0, to="x"), "mul refuses its arguments"),
        (change_of("forward", 0, 0, to=100), "has number 100, but there are"),
        (change_of("forward", 0, 2, to=[]), "a value is used before there is one"),
        (change_of("results", to=[]), "do not have their structure"),
        (change_of("results", 0, to={"value": 100}), "has number 100"),
        (change_of("result_tree", to={"results": ["os", "system", []]}), "there are no results 'system'"),
        (change_of("recorded", to=[]), "a value is used before there is one"),
        (change_of("recorded", to=[0]), "what is recorded is no result"),
        (change_of("backward", to=None), "none of what is recorded"),
        (change_of("backward", "gradients", 0, 0, to=7), "a gradient is of no argument that requires grad"),
        (change_of("backward", "gradients", 0, 1, to=1), "the gradient of a tensor of float32"),
        (change_of("stored", 0, "layout", to=[0, [2, 3], [3, 1]]), "a layout is none"),
        (change_of("stored", 0, "array", to="../0"), "has no member"),
        (change_of("dtype", to="int64"), "the default dtype is none"),
        (change_of("tree", to=None), "are none of a call"),
    ],
)  # fmt: skip
def test_what_contradicts_itself(data: bytes, change: Any, words: str) -> None:
    refuse(with_program(data, change), words)


def test_layouts_that_reach_beyond_their_memory() -> None:
    columns = gs.randn(4, 3).T
    data = file_of(lambda x: x + columns, gs.ones(3, 4))
    for layout in [
        [1, [3, 4], [1, 3]],
        [0, [3, 4], [1, 4]],
        [0, [3, 4], [-1, 3]],
        [2**62, [3, 4], [1, 3]],
        [0, [3, 4], [1, 2**61]],
    ]:
        refuse(with_program(data, change_of("stored", 0, "layout", to=layout)), "reaches beyond its memory|too large")


def test_views_that_reach_beyond_their_base() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        y.as_strided((2, 2), (1, 2)).mul_(3)
        return gs.autograd.grad(y.sum(), x)[0]

    parts = parts_of(file_of(function, gs.ones(3, 4, requires_grad=True)))

    def with_step(step: int) -> io.BytesIO:
        text = parts[PROGRAM].replace(b"[4,8]", f"[4,{step}]".encode())
        assert text.count(b"[4,8]") == 0 and text != parts[PROGRAM]
        return archive_of({**parts, PROGRAM: text})

    for step in [2**30, -4, 44, 2**60]:
        refuse(with_step(step), "reaches beyond its base|too large")
    gs.graph.load(with_step(36))  # inside


def test_members_that_overlap(data: bytes) -> None:
    end = data.index(b"PK\x01\x02")
    directory = bytearray(data[end:])
    second = directory.index(b"PK\x01\x02", 4)
    directory[second + 42 : second + 46] = (1).to_bytes(4, "little")
    refuse(io.BytesIO(data[:end] + bytes(directory)))


# ---- at random


def programs() -> list[tuple[bytes, list[Any]]]:
    """Files, and arguments of their programs."""

    def pooled(x: Any, k: Any) -> Any:
        return gs.nn.functional.avg_pool2d(gs.nn.functional.conv2d(x, k, padding=1), 2).mean()

    def indexed(x: Any, i: Any) -> Any:
        return (
            x[1:, ::2].flip(0)[:, i].sum()
            + gs.cat([x[:2], x[1:]]).sort()[0].cumsum(1)[0, 0]
            + x.gather(0, i[None]).sum()
        )

    def updated(x: Any, d: Any) -> Any:
        x.add_(1)
        d["a"][1:].mul_(2)
        return {"sum": x.sum(), "x": x}

    def solved(a: Any) -> Any:
        return (
            gs.linalg.solve(a, gs.ones(3, 2)).sum() + gs.linalg.cholesky(a @ a.T + gs.eye(3)).sum() + gs.linalg.det(a)
        )

    def seen(x: Any) -> Any:
        y = x * 2
        y.as_strided((2, 2), (1, 2)).mul_(3)
        return y.softmax(1) + gs.nn.functional.dropout(x, 0.5) + gs.randn(3, 4)

    def parameter(*size: int) -> Any:
        return gs.randn(*size).requires_grad_()

    made = [
        (scaled, [parameter(2, 3)]),
        (gs.func.hessian(lambda x: (x.sin() * x).sum()), [gs.randn(3)]),
        (pooled, [parameter(1, 2, 4, 4), parameter(3, 2, 3, 3)]),
        (indexed, [parameter(3, 4), gs.tensor([0, 1])]),
        (updated, [gs.ones(3), {"a": gs.ones(3)}]),
        (solved, [parameter(3, 3)]),
        (seen, [parameter(3, 4)]),
    ]
    return [(file_of(function, *args), args) for function, args in made]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("damaged", [with_other_bytes, with_other_arrays, with_other_structure])
def test_random_damage_is_refused_or_leaves_a_program_that_runs(damaged: Any) -> None:
    rng = random.Random(damaged.__name__)
    files = programs()
    outcomes = {"refused": 0, "run": 0}
    for _ in range(RUNS):
        data, args = rng.choice(files)
        try:
            program = gs.graph.load(damaged(data, rng))
        except CorruptFileError:
            outcomes["refused"] += 1
            continue
        run(program, args)
        outcomes["run"] += 1
    assert min(outcomes.values()) > 0 or damaged is with_other_bytes, outcomes


def run(program: Any, args: Any) -> None:
    """Call it with copies of the arguments; a program that says something else than before may refuse their values."""
    copies = gs.utils.pytree.tree_map(lambda one: one.detach().clone().requires_grad_(one.requires_grad), args)
    try:
        for _ in range(2):
            leaves, _ = gs.utils.pytree.flatten(program(*copies))
            results = [one for one in leaves if isinstance(one, gs.Tensor) and one.requires_grad]
            if results:
                gs.autograd.backward([one.sum() for one in results])
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        pass


def test_what_is_written_can_be_read_as_json(data: bytes) -> None:
    node = json.loads(parts_of(data)[PROGRAM])
    assert [node["ops"][call[0]][0] for call in node["forward"]] == ["mul", "tanh", "sum.dim"]
    assert node["backward"]["gradients"][0][0] == 0
