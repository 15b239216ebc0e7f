"""The text of a tensor, as PyTorch writes it (with this package's name before the dtype)."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual


def text(*lines):
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        ([1.0, 2.0], gs.float32, "tensor([1., 2.])"),
        ([1.0, 2.5], gs.float32, "tensor([1.0000, 2.5000])"),
        ([1.0, -2.5], gs.float64, "tensor([ 1.0000, -2.5000], dtype=gradsmith.float64)"),
        (3.0, gs.float32, "tensor(3.)"),
        (0.1, gs.float16, "tensor(0.1000, dtype=gradsmith.float16)"),
        ([1, -20], gs.int64, "tensor([  1, -20])"),
        ([1, 2], gs.int32, "tensor([1, 2], dtype=gradsmith.int32)"),
        ([True, False], gs.bool, "tensor([ True, False])"),
        ([1e-5, 1.0], gs.float32, "tensor([1.0000e-05, 1.0000e+00])"),
        ([1e9, 1.5], gs.float32, "tensor([1.0000e+09, 1.5000e+00])"),
        ([0.0, 0.0], gs.float32, "tensor([0., 0.])"),
        ([0.0, -0.0], gs.float32, "tensor([0., -0.])"),
        ([np.nan, 1.0], gs.float32, "tensor([nan, 1.])"),
        ([np.inf, -np.inf, 1.5], gs.float32, "tensor([   inf,   -inf, 1.5000])"),
        ([1e300, 1e-300], gs.float64, "tensor([1.0000e+300, 1.0000e-300], dtype=gradsmith.float64)"),
        ([1 + 2j, -0.5j], gs.complex64, "tensor([1.+2.0000j, -0.-0.5000j])"),
        ([1j], gs.complex128, "tensor([0.+1.j], dtype=gradsmith.complex128)"),
        ([], gs.float32, "tensor([])"),
        ([], gs.int64, "tensor([], dtype=gradsmith.int64)"),
        ([[], []], gs.float32, "tensor([], size=(2, 0))"),
    ],
)
def test_one_line(data, dtype, expected):
    assert repr(gs.tensor(data, dtype=dtype)) == expected


def test_rows():
    assert repr(gs.arange(24).reshape(2, 3, 4)) == text(
        "tensor([[[ 0,  1,  2,  3],",
        "         [ 4,  5,  6,  7],",
        "         [ 8,  9, 10, 11]],",
        "",
        "        [[12, 13, 14, 15],",
        "         [16, 17, 18, 19],",
        "         [20, 21, 22, 23]]])",
    )


def test_long_rows_are_broken():
    assert repr(gs.arange(0, 3, 0.25)) == text(
        "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,",
        "        2.2500, 2.5000, 2.7500])",
    )


def test_large_tensors_are_shortened():
    assert repr(gs.arange(2000)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
    assert repr(gs.zeros(40, 40)) == text(
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        ...,",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.],",
        "        [0., 0., 0.,  ..., 0., 0., 0.]])",
    )


def test_what_is_left_out_does_not_widen_the_rest():
    values = np.ones(2000, np.float32)
    values[1000] = 1e9
    assert repr(gs.from_numpy(values)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_history():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x * x) == "tensor([1., 4.], grad_fn=<MulBackward0>)"
    assert repr(gs.zeros(0, 3, requires_grad=True)) == "tensor([], size=(0, 3), requires_grad=True)"


def test_tangents():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with dual_level():
        dual = make_dual(x, gs.tensor([3.0, 4.0]))
        assert repr(dual) == "tensor([1., 2.], grad_fn=<AliasBackward0>, tangent=tensor([3., 4.]))"
        assert repr(make_dual(gs.ones(2), gs.ones(2)) * 2) == "tensor([2., 2.], tangent=tensor([2., 2.]))"
        assert "tangent" not in repr(x) + repr(unpack_dual(dual).primal) + repr(unpack_dual(dual).tangent)
        with dual_level():
            inner = make_dual(dual.detach(), gs.tensor([5.0, 6.0]))
            assert repr(inner) == "tensor([1., 2.], tangent=tensor([5., 6.]))"
    assert repr(dual) == "tensor([1., 2.], grad_fn=<AliasBackward0>)"


def test_a_tangent_that_stands_for_many_is_shown_as_they_are():
    seen = []

    def looked_at(tangent):
        with dual_level():
            dual = make_dual(gs.ones(2), tangent)
            seen.append(repr(dual))
            return unpack_dual(dual * 2).tangent

    gs.vmap(looked_at)(gs.eye(2))
    assert seen[0].startswith("tensor([1., 1.],\n       tangent=tensor([[1., 0.],\n") and "batched=1" in seen[0]


def test_suffixes_that_would_be_too_long_get_a_line():
    x = gs.tensor([0.25] * 8, dtype=gs.float64, requires_grad=True)
    assert repr(x) == text(
        "tensor([0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500],",
        "       dtype=gradsmith.float64, requires_grad=True)",
    )


def test_default_dtype_is_not_named():
    gs.set_default_dtype(gs.float64)
    try:
        assert repr(gs.ones(1)) == "tensor([1.])"
        assert repr(gs.ones(1, dtype=gs.float32)) == "tensor([1.], dtype=gradsmith.float32)"
    finally:
        gs.set_default_dtype(gs.float32)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"precision": 2}, "tensor([0.12, 1.00])"),
        ({"sci_mode": True}, "tensor([1.2346e-01, 1.0000e+00])"),
        ({"profile": "short"}, "tensor([0.12, 1.00])"),
        ({"threshold": 1, "edgeitems": 1}, "tensor([0.1235, 1.0000])"),
        ({"linewidth": 10}, "tensor([0.1235,\n        1.0000])"),
    ],
    ids=str,
)
def test_options(options, expected):
    with gs.printoptions(**options):
        assert repr(gs.tensor([0.123456, 1.0])) == expected
    assert repr(gs.tensor([0.123456, 1.0])) == "tensor([0.1235, 1.0000])"


def test_set_printoptions_keeps_what_is_not_given():
    before = gs.get_printoptions()
    try:
        gs.set_printoptions(precision=2)
        gs.set_printoptions(edgeitems=1)
        assert gs.get_printoptions() == {**before, "precision": 2, "edgeitems": 1}
        gs.set_printoptions(profile="default")
        assert gs.get_printoptions() == before
    finally:
        gs.set_printoptions(**before)


def test_full_profile_shows_all():
    with gs.printoptions(profile="full"):
        assert "..." not in repr(gs.zeros(2000))


def test_unknown_profile():
    with pytest.raises(ValueError, match="unknown profile 'tall'; there are default, short, full"):
        gs.set_printoptions(profile="tall")


def test_views_and_strides():
    assert repr(gs.arange(6.0).reshape(2, 3).T[::2]) == text("tensor([[0., 3.],", "        [2., 5.]])")
