"""Random programs: maps of vectors of three numbers, made of ops, writes to views, and transforms of such maps.

A program is a list of steps: a name, a number that makes choices, and for transforms the program that is transformed.
`run` takes any library with the names of PyTorch, so one program can be run with batches and with loops.
"""

import random

SIZE = 3
TRANSFORMS = ("vmap", "vmap_shared", "grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize")


class Library:
    """The functions of a package and of its `func` module."""

    def __init__(self, package, func, **others):
        self.package = package
        for name in ("vmap", "grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"):
            setattr(self, name, others.get(name) or getattr(func, name))


def random_program(seed, depth):
    """A list of steps, with transforms of programs up to `depth` deep."""
    rng = random.Random(seed)
    return _program(rng, depth)


def _program(rng, depth):
    steps = [_step(rng) for _ in range(rng.randint(1, 2 if depth else 4))]
    if depth:
        inner = _program(rng, depth - 1)
        steps.insert(rng.randint(0, len(steps)), (rng.choice(TRANSFORMS), rng.randrange(1000), inner))
    return steps


def _step(rng):
    return (rng.choice(list(STEPS)), rng.randrange(1000), None)


def run(library, program, x, captured):
    """The value of a program at `x`; `captured` are tensors of the levels around it, the innermost last."""
    y = x
    for name, number, inner in program:
        if inner is None:
            y = STEPS[name](library.package, y, x, captured[number % len(captured)], number)
        else:
            y = _transformed(library, name, number, inner, y, x, captured)
    return y


def _transformed(library, name, number, inner, y, x, captured):
    def f(z):
        return run(library, inner, z, [*captured, x])

    if name == "vmap":
        return _mapped(library, f, number, y, x)
    if name == "vmap_shared":
        return _mapped_with_shared(library, inner, number, y, x, captured)
    if name == "grad":
        return library.grad(lambda z: f(z).sum())(y)
    if name == "vjp":
        return library.vjp(f, y)[1](x)[0]
    if name == "jvp":
        return library.jvp(f, (y,), (x * 0.5,))[1]
    if name == "linearize":
        return library.linearize(f, y)[1](x * 0.5)
    if name == "jacrev":
        return library.jacrev(f)(y) @ x
    if name == "jacfwd":
        return x @ library.jacfwd(f)(y)
    return library.hessian(f)(y).sum(0) @ x


def _mapped(library, f, number, y, x):
    """Over rows or columns of a matrix, one of which may be counted from the end, into rows or columns."""
    count = number % 3 + 1
    rows = library.package.stack([y, x, y * x][:count], 0)
    in_dim, out_dim = (0, 1, -1, -2)[number % 4], (0, 1, -1, -2)[number // 4 % 4]
    matrix = rows if in_dim in (0, -2) else rows.t()
    found = library.vmap(f, in_dims=in_dim, out_dims=out_dim)(matrix)
    return found.sum(0 if out_dim in (0, -2) else 1)


def _mapped_with_shared(library, inner, number, y, x, captured):
    """Over numbers, beside a vector that is the same for all slices."""

    def f(shared, scale):
        return run(library, inner, shared * scale if number % 5 else shared + 0 * scale, [*captured, x, shared])

    return library.vmap(f, in_dims=(None, 0), out_dims=number % 2)(y, x[: number % 3 + 1]).mean(number % 2)


# ---- steps: of the library, the value so far, the argument of the program, a captured vector and a number


def _matrix(L, y, x, c):
    """Of values that differ wherever any of the vectors does, so that it may be written with these."""
    return y.unsqueeze(1) * 0.5 + x * 0.3 + 0 * c


def _own(y, x, c):
    return (y + 0 * x + 0 * c).clone()


def _write_element(L, y, x, c, n):
    z = _own(y, x, c)
    z[n % 3] = (x * c).sum()
    return z


def _write_part(L, y, x, c, n):
    z = _own(y, x, c)
    z[n % 3 :] *= c[n % 3 :]
    return z


def _write_through_view(L, y, x, c, n):
    z = _own(y, x, c)
    z.view(3, 1)[:, 0].mul_(x)
    z[:2].add_(c[1:])
    return z


def _write_twice(L, y, x, c, n):
    z = _own(y, x, c)
    view = z[1:]
    view.copy_(x[:2] * y[:2])
    z.mul_(c)
    return z * view.sum()


def _write_diagonal(L, y, x, c, n):
    m = _matrix(L, y, x, c).clone()
    m.view(9)[::4].mul_(c)
    return m.sum(n % 2)


def _write_row(L, y, x, c, n):
    m = _matrix(L, y, x, c).clone()
    (m if n % 2 else m.t())[n % 3] = c * y
    return m @ x


def _write_transposed(L, y, x, c, n):
    m = _matrix(L, y, x, c).clone()
    m.t()[1:, n % 2 :].copy_(x[n % 2 :])
    return m[0] + m[2]


def _write_indexed(L, y, x, c, n):
    z = _own(y, x, c)
    z[[0, 2]] = x[:2] * c[1:]
    return z


def _write_added(L, y, x, c, n):
    index = L.tensor([n % 3, 1, 1])
    return _own(y, x, c).index_add_(0, index, x * c)


def _gathered(L, y, x, c, n):
    return y.gather(0, L.tensor([n % 3, 2, 0])) * x


def _view_of_captured(L, y, x, c, n):
    return y * c[n % 3] + c.expand(2, 3)[1].flip(0)


def _as_strided(L, y, x, c, n):
    return (y * 1.0).as_strided((3, 2), (1, 0)).sum(1) * x


STEPS = {
    "sin": lambda L, y, x, c, n: y.sin(),
    "tanh": lambda L, y, x, c, n: y.tanh() * c,
    "sigmoid": lambda L, y, x, c, n: y.sigmoid() * x,
    "exp": lambda L, y, x, c, n: (y * 0.3).exp(),
    "square": lambda L, y, x, c, n: y**2 * 0.5,
    "product": lambda L, y, x, c, n: y * x,
    "difference": lambda L, y, x, c, n: y - 0.5 * c,
    "quotient": lambda L, y, x, c, n: y / (2 + x * x),
    "matrix": lambda L, y, x, c, n: _matrix(L, y, x, c) @ c,
    "row": lambda L, y, x, c, n: y @ _matrix(L, x, y, c),
    "matrices": lambda L, y, x, c, n: (_matrix(L, y, x, c) @ _matrix(L, c, y, x)).sum(n % 2),
    "dot": lambda L, y, x, c, n: (y @ x) * c,
    "sum": lambda L, y, x, c, n: y * (x * c).sum(),
    "mean": lambda L, y, x, c, n: c * (x * y).mean() + y,
    "softmax": lambda L, y, x, c, n: y.softmax(0) + x,
    "logsumexp": lambda L, y, x, c, n: (y - y.logsumexp(0)) * x,
    "cumsum": lambda L, y, x, c, n: y.cumsum(0) * 0.5,
    "prod": lambda L, y, x, c, n: x * y.prod(),
    "amax": lambda L, y, x, c, n: y * _matrix(L, y, x, c).amax(n % 2),
    "where": lambda L, y, x, c, n: L.where(y > x * 0.7, y * c, x + 0 * y),
    "cat": lambda L, y, x, c, n: L.cat([y[1:], (x * c)[:1]]),
    "stack": lambda L, y, x, c, n: L.stack([y, x, c], n % 2).sum(n % 2),
    "list_index": lambda L, y, x, c, n: y[[2, 0, 0]] * x,
    "tensor_index": lambda L, y, x, c, n: _matrix(L, y, x, c)[:, L.tensor([n % 3, 1])].sum(1),
    "flip": lambda L, y, x, c, n: y.flip(0) * c,
    "gather": _gathered,
    "reshape": lambda L, y, x, c, n: _matrix(L, y, x, c).t().reshape(-1)[n % 6 : n % 6 + 3],
    "expand": lambda L, y, x, c, n: y.expand(2, 3).t().sum(1) * 0.5,
    "diagonal": lambda L, y, x, c, n: _matrix(L, y, x, c).reshape(9)[::4] * x,
    "detach": lambda L, y, x, c, n: y * (0.5 * x).detach(),
    "as_strided": _as_strided,
    "captured_view": _view_of_captured,
    "write_element": _write_element,
    "write_part": _write_part,
    "write_view": _write_through_view,
    "write_twice": _write_twice,
    "write_diagonal": _write_diagonal,
    "write_row": _write_row,
    "write_transposed": _write_transposed,
    "write_indexed": _write_indexed,
    "write_added": _write_added,
}
