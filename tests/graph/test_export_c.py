"""Functions as C: bits, layouts, constants, gradients, threads, errors."""

import operator
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler import TraceError
from tests.graph.compiled_c import STRICT, called, exported, library_of
from tests.run_threads import run_threads

compiles = pytest.mark.compiles


def numbers(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return gs.tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def same_bits(f: Any, args: list[Any], folder: Path) -> None:
    expected = f(*args)
    expected = expected if isinstance(expected, (tuple, list)) else [expected]
    for found, wanted in zip(exported(f, args, folder), expected):
        np.testing.assert_array_equal(found, wanted.detach().numpy())


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arithmetic_has_the_same_bits(dtype: Any, tmp_path: Path) -> None:
    def f(x: Any, y: Any) -> Any:
        z = (x * y + 0.1).sqrt().clamp(0.2, 1.5) / (x - y)
        z = gs.where(z > x, z, y**2).maximum(-x)
        return z, z[1:, ::2].T, z.sum(1), z.amax(0), (x < y).sum(), z.argmax(1), gs.cat([z, x.flip(0)], 1)

    x, y = numbers(5, 6, dtype=dtype).abs() + 3, numbers(6, seed=1, dtype=dtype).abs()
    same_bits(f, [x, y], tmp_path)


SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.7, -0.7, 7.0, -7.0, np.inf, -np.inf, np.nan, 1e-38, 1e30, -3.0000001)


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_remainders_and_signs_have_the_same_bits(dtype: Any, tmp_path: Path) -> None:
    def f(a: Any, b: Any) -> Any:
        divided = a % b, a // b, gs.fmod(a, b), a % 0.7, a // -0.3, 2.5 % b, 3 // b
        return *divided, gs.sign(a), gs.sgn(b), gs.isinf(a), gs.isfinite(b)

    special, some = np.array(SPECIAL, dtype), np.random.default_rng(0).standard_normal(500).astype(dtype)
    a = np.concatenate([np.repeat(special, len(special)), some, some * 1000])
    b = np.concatenate([np.tile(special, len(special)), some[::-1], some[::-1]])
    with np.errstate(all="ignore"):
        same_bits(f, [gs.tensor(a), gs.tensor(b)], tmp_path)


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_and_bounds_of_special_numbers(dtype: Any, tmp_path: Path) -> None:
    def f(a: Any) -> Any:
        powers = [a**n for n in (-2, -1, -0.5, 0.5, 1, 2, 3)]
        bounded = a.clamp_min(0), a.clamp_max(0), a.clamp(min=-0.0), a.clamp_max(-0.0)
        bounded += gs.maximum(a, a[0]), gs.minimum(a[1], a), gs.maximum(a[0], a[1]), gs.maximum(a, a.abs())
        return *powers, *bounded, *(1 / one for one in bounded)

    with np.errstate(all="ignore"):
        same_bits(f, [gs.tensor(np.array(SPECIAL, dtype))], tmp_path)


@compiles
def test_extremes_of_integers(tmp_path: Path) -> None:
    """Integers are not compared with themselves, of which compilers warn."""

    def f(a: Any, b: Any) -> Any:
        greatest = a.argmax(0), a.argmin(), a.amax(1), a.amin(0), gs.maximum(a, a.flip(0)), a.relu()
        return *greatest, b.argmax(0), b.argmin(), b.relu(), b < 3, b >= b, gs.minimum(b, b.flip(0))

    a = gs.tensor(np.random.default_rng(0).integers(-3, 4, (4, 5)))
    same_bits(f, [a, gs.tensor([5], dtype=gs.uint8)], tmp_path)


@compiles
def test_integers_beside_numbers_that_their_type_may_not_have(tmp_path: Path) -> None:
    """And beside its least and greatest, where compilers warn of comparisons that are always true."""
    compared = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
    bounds = (-(2**40), -300, -128, -1, 0, 1, 2, 127, 255, 300, 2**40)

    def f(*tensors: Any) -> Any:
        return [compare(one, number) for one in tensors for number in bounds for compare in compared]

    dtypes = (gs.uint8, gs.int8, gs.bool, gs.int32, gs.int64)
    same_bits(f, [gs.tensor([0, 1, 44, 127]).to(dtype) for dtype in dtypes], tmp_path)


@compiles
def test_integers_within_the_bounds_of_their_type(tmp_path: Path) -> None:
    def f(*tensors: Any) -> Any:
        return [
            bounded
            for one in tensors
            for bound in (gs.iinfo(one.dtype).min, gs.iinfo(one.dtype).max, 3)
            for bounded in (one.clamp_min(bound), one.clamp_max(bound))
        ]

    dtypes = (gs.uint8, gs.int8, gs.int16, gs.int32, gs.int64)
    same_bits(f, [gs.tensor([0, 1, 44, 127]).to(dtype) for dtype in dtypes], tmp_path)


@compiles
def test_programs_that_read_no_argument(tmp_path: Path) -> None:
    """And steps without elements, which leave nothing that reads them."""

    def f(x: Any, y: Any) -> Any:
        return x * 2 + y, gs.ones(3) * 2, gs.cat([gs.zeros(0), gs.ones(2, 3)], 1)

    same_bits(f, [gs.zeros(0, 4), gs.zeros(4)], tmp_path)


@compiles
def test_integers_change_their_sign(tmp_path: Path) -> None:
    least = gs.tensor([np.iinfo(np.int64).min, -3, 0, 4])
    same_bits(lambda x, y: (-x, gs.sign(x), -y), [least, gs.tensor([0, 1, 255], dtype=gs.uint8)], tmp_path)


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_triangles_outer_products_and_cross_entropy(dtype: Any, tmp_path: Path) -> None:
    def f(x: Any, y: Any) -> Any:
        parts = x.tril(), x.triu(1), x.T.tril(-1), x.T.triu(-2), gs.outer(y, x[0, ::2])
        loss = gs.func.grad(lambda x: -(gs.nn.functional.log_softmax(x, 1)[:, 1] * x[:, 0]).sum())
        return *parts, loss(x), loss(x.T)

    x, y = numbers(4, 5, dtype=dtype), numbers(3, seed=1, dtype=dtype)
    for found, wanted in zip(exported(f, [x, y], tmp_path), f(x, y)):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=3e-6 if dtype == np.float32 else 1e-13)


REDUCTIONS: dict[str, Any] = {
    "sum": lambda x, dim: x.sum(dim),
    "mean": lambda x, dim: x.mean(dim),
    "prod": lambda x, dim: x.prod(dim),
    "amax": lambda x, dim: x.amax(dim),
    "amin": lambda x, dim: x.amin(dim),
    "argmax": lambda x, dim: x.argmax(dim),
    "argmin": lambda x, dim: x.argmin(dim),
    "all": lambda x, dim: (x > 0).all(dim),
    "any": lambda x, dim: (x > 1).any(dim),
    "logsumexp": lambda x, dim: x.logsumexp(dim),
    "softmax": lambda x, dim: x.softmax(dim),
    "log_softmax": lambda x, dim: x.log_softmax(dim),
    "cumsum": lambda x, dim: x.cumsum(dim),
}


def test_reductions_of_equal_and_missing_elements(tmp_path: Path) -> None:
    """One program of them all, so that it is compiled where the others are left out: the first of equal elements, and
    NaN, is found along each dimension.
    """
    x = gs.tensor(np.random.default_rng(0).integers(-1, 3, size=(4, 5, 3)).astype(np.float64))
    missing = x.clone()
    missing[1, 2, :2] = missing[1, 3, 0] = missing[3, 0, 1] = np.nan
    names = [(name, dim) for name in REDUCTIONS for dim in (0, 1, 2)]

    def function(x: Any, y: Any) -> list[Any]:
        return [REDUCTIONS[name](one, dim) for one in (x, y) for name, dim in names]

    found = exported(function, [x, missing], tmp_path)
    for (name, dim), one, expected in zip(names * 2, found, function(x, missing)):
        np.testing.assert_allclose(one, expected.numpy(), rtol=1e-12, atol=1e-14, err_msg=f"{name} along {dim}")


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((7,), 0),
        ((25,), 0),
        ((3, 100), 1),
        ((2, 512), 1),
        ((2, 600), 1),
        ((3, 5000), 1),
        ((8, 50), 0),
        ((2, 9, 30), (1, 2)),
    ],
)
def test_sums_of_contiguous_tensors_have_the_same_bits(shape: Any, dim: Any, dtype: Any, tmp_path: Path) -> None:
    same_bits(lambda x: (x.sum(dim), x.mean(dim)), [numbers(*shape, dtype=dtype)], tmp_path)


@compiles
@pytest.mark.parametrize("shape", [(1,), (2,), (1, 4), (4, 1), (40, 2)])
def test_sums_of_negative_zeros(shape: Any, tmp_path: Path) -> None:
    zeros = gs.full(shape, -0.0)
    expected = [zeros.sum(), zeros.sum(0), zeros.mean(-1)]
    for found, wanted in zip(exported(lambda x: (x.sum(), x.sum(0), x.mean(-1)), [zeros], tmp_path), expected):
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted.numpy()))


@compiles
def test_strided_arguments_and_writes(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        y = x.clone()
        y[1:, 0] = 4.0
        y[:, 2].mul_(x[:, 1])
        y.T.add_(1)
        return y

    same_bits(f, [numbers(6, 5).T[1:, ::2]], tmp_path)


@compiles
def test_constants(tmp_path: Path) -> None:
    weights, counts = numbers(3, 4), gs.tensor([0.0, -0.0, float("inf"), -1e-300])

    def f(x: Any) -> Any:
        start = gs.zeros(4)
        start[2] = 2.0
        return weights.T[:, 1] * x + counts, start + gs.arange(4)

    same_bits(f, [numbers(4)], tmp_path)


@compiles
@pytest.mark.parametrize("transform", [gs.func.grad, gs.func.hessian, gs.func.jacfwd, gs.func.value_and_grad])
def test_transforms(transform: Any, tmp_path: Path) -> None:
    a = numbers(4, 4)
    f = transform(lambda x: ((a @ x.sin()).tanh() ** 2).sum() + gs.logsumexp(x, 0) - x.softmax(0)[1])
    args = [numbers(4)]
    expected = f(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, wanted in zip(exported(f, args, tmp_path), expected):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-12, atol=1e-14)


@compiles
def test_batches(tmp_path: Path) -> None:
    f = gs.func.vmap(gs.func.grad(lambda x: (x.exp() * x).sum()))
    args = [numbers(5, 3)]
    np.testing.assert_allclose(exported(f, args, tmp_path)[0], f(*args).numpy(), rtol=1e-13)


@compiles
def test_random_programs(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    unary = ["neg", "abs", "sqrt_abs", "T", "flip", "clone", "relu", "floor"]
    for number in range(6):
        ops = generator.choice(unary, 40)

        def f(x: Any, y: Any, ops: Any = ops) -> Any:
            for i, op in enumerate(ops):
                z = (
                    x.abs().sqrt()
                    if op == "sqrt_abs"
                    else x.T.T
                    if op == "T"
                    else x.flip(0)
                    if op == "flip"
                    else getattr(x, op)()
                )
                x = z * y + i if i % 3 else z - x / (y.abs() + 1)
                y = gs.where(x > y, y, x).clamp(-2, 2)
            return x, y, x.sum(), y.amin(1)

        folder = tmp_path / str(number)
        folder.mkdir()
        same_bits(f, [numbers(4, 3, seed=number), numbers(3, seed=number + 9)], folder)


@compiles
def test_long_functions_are_cut(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        for i in range(700):
            x = x * 1.01 - i
        return x

    same_bits(f, [numbers(2)], tmp_path)
    assert "part_2(" in (tmp_path / "exported.c").read_text()


@compiles
def test_threads_have_memory_of_their_own(tmp_path: Path) -> None:
    f = gs.func.grad(lambda x: (x.sin() * x).sum())
    files = gs.graph.export_c(f, [numbers(500)], "slope", tmp_path)
    library = library_of(files[:1], tmp_path / "slope.so")

    def run(seed: int) -> None:
        x = numbers(500, seed=seed)
        for _ in range(50):
            assert np.allclose(called(library, "slope", [x], [x])[0], f(x).numpy())

    run_threads([partial(run, seed) for seed in range(4)])


MAIN = """
#include <stdlib.h>
#include "exported.h"
int main(void)
{
    double *x = malloc(%d * sizeof *x), *out = malloc(%d * sizeof *out);
    for (int i = 0; i < %d; i++) { x[i] = 0.5 + i; }
    void *work = malloc(exported_work_size());
    int status = exported(x, out, work);
    free(x); free(out); free(work);
    return status;
}
"""


@compiles
def test_no_access_outside_of_memory(tmp_path: Path) -> None:
    f = gs.func.hessian(lambda x: (x.reshape(2, 3) @ x[1:4].exp()).sum() + (gs.cat([x, x.flip(0)]).sin() ** 2).mean())
    gs.graph.export_c(f, [numbers(6)], "exported", tmp_path)
    (tmp_path / "main.c").write_text(MAIN % (6, 36, 6))
    names = [str(tmp_path / name) for name in ("main.c", "exported.c")]
    command = [
        "cc",
        *STRICT,
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        *names,
        "-lm",
        "-o",
        str(tmp_path / "main"),
    ]
    subprocess.run(command, check=True)
    subprocess.run([str(tmp_path / "main")], check=True)


@compiles
def test_the_header_is_one_of_cpp_too(tmp_path: Path) -> None:
    gs.graph.export_c(lambda x: x + 1, [numbers(2)], "exported", tmp_path)
    (tmp_path / "use.cpp").write_text('#include "exported.h"\nint (*f)(const double *, double *, void *) = exported;\n')
    command = ["c++", "-Wall", "-Wextra", "-Werror", "-c", str(tmp_path / "use.cpp"), "-o", str(tmp_path / "use.o")]
    subprocess.run(command, check=True)


def test_the_header_says_what_arguments_are(tmp_path: Path) -> None:
    _, header = gs.graph.export_c(lambda x, n: x.sum(0) * n, [numbers(2, 3), 2], "total", tmp_path)
    text = header.read_text()
    assert "x0: float64, shape [2, 3]" in text
    assert "out0: float64, shape [3]" in text
    assert "total(const double *x0, double *out0, void *memory);" in text


def test_the_error_lists_all_ops(tmp_path: Path) -> None:
    with pytest.raises(
        NotImplementedError, match=r"(?s)no form in the exported C.*sort.*test_export_c\.py.*det.*other ops"
    ):
        gs.graph.export_c(lambda x: x.sort()[0] * gs.linalg.det(x), [numbers(3, 3)], "f", tmp_path)
    assert not list(tmp_path.iterdir())


def test_loops_of_functions_that_c_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="(?s)digamma.*the C library has no"):
        gs.graph.export_c(gs.digamma, [numbers(3)], "f", tmp_path)


def test_values_are_not_looked_at(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="not possible"):
        gs.graph.export_c(lambda x: x if x.sum() > 0 else -x, [numbers(3)], "f", tmp_path)


def test_arguments_are_only_read(tmp_path: Path) -> None:
    x = gs.ones(3)
    with pytest.raises(TraceError, match=r"writes to an argument.*clone"):
        gs.graph.export_c(lambda x: x.mul_(2), [x], "f", tmp_path)
    assert x.tolist() == [1, 1, 1]


def test_results_are_tensors(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="3, which is not a tensor"):
        gs.graph.export_c(lambda x: (x, 3), [numbers(3)], "f", tmp_path)


@pytest.mark.parametrize("name", ["", "a b", "1x", "for", "int", "exp"])
def test_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name in C"):
        gs.graph.export_c(lambda x: x, [numbers(3)], name, tmp_path)


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(RuntimeError, match="no C compiler was found"):
        gs.graph.export_c(lambda x: x + 1, [numbers(3)], "f", tmp_path, shared=True)
