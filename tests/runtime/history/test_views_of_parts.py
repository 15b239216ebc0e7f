"""Views of parts of complex tensors, and complex views of real ones, beside those of tensors that lie alike in memory.

Views that are only read are also compared with copies.
"""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

GRID = np.random.default_rng(0).standard_normal((3, 4)) + 1j * np.random.default_rng(1).standard_normal((3, 4))

# The same part of a complex tensor, and of the real one with pairs of numbers that lies alike.
PARTS = {
    "real": (lambda z: z.real, lambda x: x[..., 0]),
    "imaginary": (lambda z: z.imag, lambda x: x[..., 1]),
    "pairs": (gs.view_as_real, lambda x: x),
    "imaginary of a transpose": (lambda z: z.mT.imag, lambda x: x.transpose(0, 1)[..., 1]),
    "imaginary of a slice": (lambda z: z[:, ::2].imag, lambda x: x[:, ::2, 1]),
    "pairs of a transpose": (lambda z: gs.view_as_real(z.mT), lambda x: x.transpose(0, 1)),
    "complex": (lambda z: z, gs.view_as_complex),
    "complex of a transpose": (lambda z: z.mT, lambda x: gs.view_as_complex(x.transpose(0, 1))),
    "complex of a slice": (lambda z: z[:, 1:], lambda x: gs.view_as_complex(x[:, 1:])),
}


def shared(v):
    """Pairs of rows, each of which begins with the row that the one before ends with."""
    return v.as_strided((2, 2, *v.shape[1:]), (v.stride(0), *v.stride()), v.storage_offset())


# Views, and copies of what they show.
SHOWN = {
    "whole": (lambda v: v, lambda v: v.clone()),
    "transposed": (lambda v: v.transpose(0, -1), lambda v: v.transpose(0, -1).clone()),
    "repeated": (lambda v: v[1:].unsqueeze(0).expand(3, *v[1:].shape), lambda v: gs.stack([v[1:]] * 3)),
    "diagonal": (
        lambda v: v.diagonal(0, 0, -1),
        lambda v: gs.stack([v[i, ..., i] for i in range(min(v.shape[0], v.shape[-1]))], -1),
    ),
    "strided": (
        lambda v: v.as_strided((2, *v.shape[1:]), v.stride(), v.storage_offset() + v.stride(0)),
        lambda v: v[1:3].clone(),
    ),
    "shared": (shared, lambda v: gs.stack([v[:2], v[1:3]], 1)),
    "windows": (lambda v: v.unfold(0, 2, 1), lambda v: gs.stack([v[:-1], v[1:]], -1)),
    "empty": (lambda v: v[v.shape[0] :], lambda v: v[:0].clone()),
}
WRITES = {
    "none": lambda v, w: v,
    "product": lambda v, w: v.mul_(w),
    "copy": lambda v, w: v.copy_(w),
    "sine": lambda v, w: v.sin_(),
    "item": lambda v, w: v.__setitem__((0,) if v.numel() else ..., w[0] if v.numel() else w),
    "zeros": lambda v, w: v.zero_(),
}
CASES = [
    pytest.param(show, write, id=f"{shown}-{written}")
    for shown, show in SHOWN.items()
    for written, write in WRITES.items()
    if shown != "repeated" or written == "none"  # an expanded tensor is not written
]


def function(part, show, write, is_complex):
    """Of a complex tensor and of numbers to write, by a complex tensor or by pairs of numbers."""

    def f(z, w):
        pairs = gs.view_as_real(z * (1 + 0.5j)).clone()
        own = gs.view_as_complex(pairs.clone()) * 1 if is_complex else pairs
        view = show(part(own))
        write(view, w.reshape(-1)[: view.numel()].reshape(view.shape))
        left = own if is_complex else gs.complex(own[..., 0], own[..., 1])
        return (view**3 * (1 - 2j)).real.sum() + (left.abs() ** 2 * left.real).sum() + (left.imag**3).sum()

    return f


def slopes(f):
    return func.grad(f, (0, 1))


def second_slopes(f):
    return slopes(lambda z, w: sum((one.abs() ** 2).sum() for one in slopes(f)(z, w)))


@pytest.mark.parametrize(("show", "write"), CASES)
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_values_and_derivatives(parts, show, write):
    of_complex, of_pairs = function(parts[0], show[0], write, True), function(parts[1], show[0], write, False)
    z, w = gs.tensor(GRID), gs.tensor(np.linspace(0.5, 2.0, 96))
    batch = gs.stack([z, z * 1j + 1]), gs.stack([w, w + 1])
    for transform in (lambda f: f, slopes, second_slopes, lambda f: lambda z, w: func.jvp(f, (z, w), (z * 2, w))[1]):
        compare(transform(of_complex)(z, w), transform(of_pairs)(z, w))
    compare(func.vmap(slopes(of_complex))(*batch), func.vmap(slopes(of_pairs))(*batch))
    compare(func.vmap(slopes(of_complex))(*batch)[0][0], slopes(of_pairs)(z, w)[0])
    if write is WRITES["none"]:
        of_copy = function(parts[0], show[1], write, True)
        compare(slopes(of_pairs)(z, w), slopes(of_copy)(z, w))
        compare(second_slopes(of_complex)(z, w), second_slopes(of_copy)(z, w))


def compare(found, expected):
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-11, atol=1e-12)
