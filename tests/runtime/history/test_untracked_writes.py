"""A tensor of integers or bools has no history, whatever writes to it."""

import pytest

import gradsmith as gs

KINDS = {
    "int64": lambda: gs.tensor([1, 2, 3, 4]),
    "uint8": lambda: gs.tensor([1, 2, 3, 4]).to(gs.uint8),
    "bool": lambda: gs.tensor([True, False, True, True]),
    "a view": lambda: gs.tensor([0, 1, 2, 3, 4])[1:],
}


def values():
    return gs.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True) * 1


def number():
    return gs.tensor(2.0, requires_grad=True) * 1


def assign(key, source):
    def write(t):
        t[key] = source()

    return write


MASK = gs.tensor([True, False, True, False])
WRITES = {
    "copy_": lambda t: t.copy_(values()),
    "copy_ of a number": lambda t: t.copy_(number()),
    "copy_ to a view": lambda t: t[1:3].copy_(values()[:2]),
    "an element": assign(0, number),
    "a slice": assign(slice(None), values),
    "a part": assign(slice(1, 3), number),
    "everything": assign(..., number),
    "fill_": lambda t: t.fill_(number()),
    "fill_ of a view": lambda t: t[1:3].fill_(number()),
    "masked_fill_": lambda t: t.masked_fill_(MASK, number()),
    "eq_": lambda t: t.eq_(number()),
    "lt_": lambda t: t.lt_(values()),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_not_tracked(kind, write):
    t = KINDS[kind]()
    view, version = t[:2], t._version
    WRITES[write](t)
    assert t._version == version + 1
    for tensor in (t, view, t[1:]):
        assert not tensor.requires_grad
        assert tensor.grad_fn is None
        assert tensor.is_leaf
    with pytest.raises(RuntimeError, match="does not require grad"):
        t.sum().backward()


def test_floats_are():
    t = gs.zeros(4)
    t[0] = number()
    assert t.requires_grad
