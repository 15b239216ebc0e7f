"""Transforms of transforms, at random, against exact derivatives of polynomials.

A transform takes a map of the plane to another one. Of a polynomial map each of them gives a polynomial map, whose
coefficients are computed here; vectors of products are constant, or the point itself, so that the levels could be
mixed up.
"""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradsmith as gs
from gradsmith import func

SIZE = 2


class Polynomial(dict):
    """Exponents of the variables -> coefficient."""

    def __add__(self, other):
        return collected([*self.items(), *other.items()])

    def __mul__(self, other):
        return collected((tuple(i + j for i, j in zip(a, b)), x * y) for a, x in self.items() for b, y in other.items())

    def derivative(self, n):
        lower = tuple(int(i == n) for i in range(SIZE))
        return collected((tuple(i - j for i, j in zip(a, lower)), x * a[n]) for a, x in self.items() if a[n])

    def __call__(self, point):
        return sum((x * point[0] ** a[0] * point[1] ** a[1] for a, x in self.items()), 0 * point[0])


def collected(terms):
    found = defaultdict(int)
    for exponents, coefficient in terms:
        found[exponents] += coefficient
    return Polynomial({a: x for a, x in found.items() if x})


def constant(value):
    return Polynomial({(0,) * SIZE: value})


POINT = [Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1})]


def total(polynomials):
    found = Polynomial()
    for one in polynomials:
        found = found + one
    return found


# ---- each transform, of tensors and of polynomials. `direction` is None for the point itself.


def vector(direction, x):
    return x if direction is None else gs.tensor([float(d) for d in direction], dtype=x.dtype)


def exact_vector(direction):
    return POINT if direction is None else [constant(d) for d in direction]


def pushed(f, direction):
    return lambda x: func.jvp(f, (x,), (vector(direction, x),))[1]


def pushed_by_linear_part(f, direction):
    return lambda x: func.linearize(f, x)[1](vector(direction, x))


def exactly_pushed(f, direction):
    v = exact_vector(direction)
    return [total(one.derivative(n) * v[n] for n in range(SIZE)) for one in f]


def pulled(f, direction):
    return lambda x: func.vjp(f, x)[1](vector(direction, x))[0]


def pulled_by_rows(f, direction):
    return lambda x: vector(direction, x) @ func.jacrev(f)(x)


def pulled_by_columns(f, direction):
    return lambda x: vector(direction, x) @ func.jacfwd(f)(x)


def pulled_by_gradient(f, direction):
    return lambda x: func.grad(lambda y: (f(y) * vector(direction, x)).sum())(x)


def exactly_pulled(f, direction):
    v = exact_vector(direction)
    return [total(f[m].derivative(n) * v[m] for m in range(SIZE)) for n in range(SIZE)]


def scaled(f, direction):
    return lambda x: f(x) * vector(direction, x)


def exactly_scaled(f, direction):
    return [one * v for one, v in zip(f, exact_vector(direction))]


TRANSFORMS = {
    pushed: exactly_pushed,
    pushed_by_linear_part: exactly_pushed,
    pulled: exactly_pulled,
    pulled_by_rows: exactly_pulled,
    pulled_by_columns: exactly_pulled,
    pulled_by_gradient: exactly_pulled,
    scaled: exactly_scaled,
}

small = st.integers(-3, 3)
polynomials = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), small, min_size=1, max_size=4)
directions = st.none() | st.tuples(small, small)
chains = st.lists(st.tuples(st.sampled_from(list(TRANSFORMS)), directions), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.tuples(polynomials, polynomials), chains, st.tuples(small, small), st.booleans())
def test_any_transforms_in_any_order(terms, chain, point, recorded):
    exact = [collected(one.items()) for one in terms]
    f = lambda x, exact=tuple(exact): gs.stack([one((x[0], x[1])) for one in exact])  # noqa: E731
    for transform, direction in chain:
        f = transform(f, direction)
        exact = TRANSFORMS[transform](exact, direction)
    x = gs.tensor([float(p) for p in point], dtype=gs.float64, requires_grad=recorded)
    found = f(x)
    assert found.tolist() == [one(point) for one in exact]  # whole numbers, so without rounding
    if found.requires_grad:
        (gradient,) = gs.autograd.grad(found.sum(), x, allow_unused=True, materialize_grads=True)
        assert gradient.tolist() == [one(point) for one in exactly_pulled(exact, (1, 1))]
    assert recorded or not found.requires_grad


@pytest.mark.parametrize("transform", list(TRANSFORMS))
def test_a_captured_tensor_is_a_constant_of_the_inner_transform(transform):
    def f(x):
        inner = transform(lambda y: x * y * y, (1, 1))
        return inner(2 * x)

    x = gs.tensor([1.0, 3.0], dtype=gs.float64)
    value = 4.0 if transform is not scaled else 4.0 * x
    factor = 2.0 if transform is not scaled else 3.0
    expected = (value * x * x if transform is not scaled else 4 * x**3).tolist()
    assert f(x).tolist() == expected
    slope = func.grad(lambda x: f(x).sum())(x)
    assert slope.tolist() == (factor * value * x if transform is not scaled else 12 * x * x).tolist()
