"""Complex views of real tensors: written, differentiated, and seen again as real ones."""

import io

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import forward_ad, grad

PAIRS = np.arange(8.0).reshape(2, 2, 2)


def leaf(array=PAIRS, dtype="float64"):
    return gs.tensor(array, dtype=dtype, requires_grad=True)


def numbers(x):
    """The same numbers in memory of their own."""
    return gs.complex(x[..., 0], x[..., 1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_and_version_are_those_of_the_pairs(dtype):
    x = gs.tensor(PAIRS, dtype=dtype)
    z = gs.view_as_complex(x)
    assert z._is_view() and z._base is x and z.data_ptr() == x.data_ptr() and z.stride() == (2, 1)
    z.mul_(1j)
    np.testing.assert_array_equal(x.numpy(), np.stack([-PAIRS[..., 1], PAIRS[..., 0]], -1))
    assert x._version == z._version == 1
    x[0, 0] = 5.0
    assert z[0, 0].item() == 5 + 5j
    assert gs.equal(gs.view_as_real(z), x) and gs.view_as_real(z)._base is x


@pytest.mark.parametrize("select", [lambda x: x, lambda x: x.transpose(0, 1), lambda x: x[1:], lambda x: x[:, ::2]])
def test_views_of_views(select):
    x = gs.tensor(PAIRS)
    z = gs.view_as_complex(select(x))
    assert z._base is x and gs.equal(z, numbers(select(x)))


@pytest.mark.parametrize(
    "pairs", [gs.ones(3, 3)[:, :2], gs.ones(3, 4)[:, ::2], gs.ones(2, 3).t(), gs.ones(2, 1).expand(2, 2)]
)
def test_what_does_not_lie_in_pairs_is_copied(pairs):
    z = gs.view_as_complex(pairs)
    assert not z._is_view() and z.tolist() == [1 + 1j] * len(pairs)


def test_sizes():
    assert gs.view_as_complex(gs.zeros(2)).shape == () and gs.view_as_complex(gs.zeros(0, 2)).shape == (0,)
    on_meta = gs.view_as_complex(gs.zeros(3, 2, device="meta"))
    assert (on_meta.shape, on_meta.dtype, on_meta.device) == ((3,), gs.complex64, "meta")
    for wrong in (gs.zeros(()), gs.zeros(3)):
        with pytest.raises(RuntimeError, match=r"view_as_complex\(\): needs a last dimension of size 2, but got"):
            gs.view_as_complex(wrong)
    with pytest.raises(RuntimeError, match="only supported for float32 and float64 tensors, but got int64"):
        gs.view_as_complex(gs.tensor([1, 2]))
    assert not gs.view_as_complex_copy(gs.zeros(2))._is_view()


def written(x, factor):
    """`x` times a complex factor where the second row is, by a write to a complex view; and the rest."""
    copy = x * 1
    gs.view_as_complex(copy)[1].mul_(factor)
    return copy


def computed(x, factor):
    """The same without a write."""
    changed = numbers(x)[1] * factor
    return gs.stack([x[0], gs.stack([changed.real, changed.imag], -1)])


@pytest.mark.parametrize("how", [written, computed])
def test_gradients_of_what_was_written(how):
    x, factor = leaf(), gs.tensor([1 + 2j, 3 - 1j], dtype=gs.complex128, requires_grad=True)
    weights = gs.tensor(PAIRS[::-1].copy())
    first = grad((how(x, factor) ** 2 * weights).sum(), [x, factor], create_graph=True)
    second = grad((first[0] ** 2).sum() + (first[1].abs() ** 2).sum(), [x, factor])
    expected = grad((computed(x, factor) ** 2 * weights).sum(), [x, factor], create_graph=True)
    again = grad((expected[0] ** 2).sum() + (expected[1].abs() ** 2).sum(), [x, factor])
    for one, other in zip((*first, *second), (*expected, *again)):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-12)


def test_a_view_is_renewed_when_its_base_is_written():
    x = leaf()
    copy = x * 1
    z = gs.view_as_complex(copy).transpose(0, 1)
    copy.mul_(gs.tensor([2.0, 3.0]))
    (gradient,) = grad((z.real + 5 * z.imag)[1].sum(), x)
    assert gradient.tolist() == [[[0, 0], [2, 15]], [[0, 0], [2, 15]]]


def test_a_constant_written_with_what_requires_grad_joins_the_graph():
    x, w = gs.tensor(PAIRS[0]), gs.tensor([1j, 2], dtype=gs.complex128, requires_grad=True)
    gs.view_as_complex(x).copy_(w)
    (x**2).sum().backward()
    assert x.requires_grad and w.grad.tolist() == [2j, 4]
    with pytest.raises(RuntimeError, match="view of a leaf Variable that requires grad is being used in an in-place"):
        gs.view_as_complex(leaf()).mul_(2)


def test_tangents_are_written_alike():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor(PAIRS), gs.ones(2, 2, 2, dtype=gs.float64)) * 1
        z = gs.view_as_complex(x)
        z.mul_(1j)
        assert gs.equal(forward_ad.unpack_dual(z).tangent, gs.full((2, 2), -1 + 1j, dtype=gs.complex128))
        assert forward_ad.unpack_dual(x).tangent.tolist() == [[[-1, 1]] * 2] * 2


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd, lambda f: func.vmap(func.grad(lambda x: f(x).sum()))])
def test_transforms(transform):
    factor = gs.tensor([1 + 2j, 3 - 1j], dtype=gs.complex128)
    point = gs.tensor(np.stack([PAIRS, PAIRS + 1])) if transform not in (func.jacrev, func.jacfwd) else gs.tensor(PAIRS)
    found = transform(lambda x: written(x, factor) ** 2)(point)
    np.testing.assert_allclose(found.numpy(), transform(lambda x: computed(x, factor) ** 2)(point).numpy())


def test_compiled_functions_write_through_them():
    factor = gs.tensor([1 + 2j, 3 - 1j], dtype=gs.complex128)
    compiled = gs.compile(lambda x: (written(x, factor) ** 2).sum())
    for scale in (1.0, 2.0):
        x, y = leaf(PAIRS * scale), leaf(PAIRS * scale)
        compiled(x).backward()
        (computed(y, factor) ** 2).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy())


def test_patterns_of_derivatives_contain_them():
    point = gs.tensor(PAIRS)
    pattern = func.jacobian_pattern(lambda x: written(x, 2j))(point)
    dense = func.jacrev(lambda x: written(x, 2j))(point).reshape(8, 8)
    assert not (dense.numpy() != 0)[~pattern.array.toarray()].any()


def test_saved_programs_have_them():
    def slopes(x):
        copy = written(x, 2j)
        z = gs.view_as_complex(copy)
        copy.add_(1)
        return grad((z.abs() ** 3).sum(), x)[0]

    file = io.BytesIO()
    gs.graph.save(slopes, (leaf(),), file)
    file.seek(0)
    program = gs.graph.load(file)
    np.testing.assert_allclose(program(leaf(PAIRS + 1)).numpy(), slopes(leaf(PAIRS + 1)).numpy())
