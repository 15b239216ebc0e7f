"""What an entry requires: a call just outside is refused by its message, one just inside is taken.

The proofs try calls at random; where exactly a requirement ends, they do not see.
"""

import re

import pytest

import gradsmith as gs
from gradsmith.generated.op_table import OPS
from gradsmith.verify.samples import key_of

x, v, scalar = gs.rand(2, 4), gs.rand(4), gs.tensor(0.5)
matrix, stack = gs.eye(3), gs.rand(2, 3, 4)
lu, pivots = gs.linalg.lu_factor(matrix)
index = gs.tensor([[0, 1, 0, 1]])
whole = gs.ones(1, 4, 4, dtype=gs.int64)
f, special, linalg = gs.nn.functional, gs.special, gs.linalg

# Of each entry: calls that are refused, with a part of the message, and calls that are taken.
CALLS = {
    "polar": (
        {"gs.polar(v, v.double())": "one dtype"},
        ["gs.polar(v, v)"],
    ),
    "view_as_complex": ({"gs.view_as_complex(gs.rand(3, 3))": "size 2"}, ["gs.view_as_complex(gs.rand(3, 2))"]),
    "H": ({"v.H": "for matrices", "stack.H": "for matrices"}, ["x.H", "scalar.H"]),
    "addr": (
        {"gs.addr(matrix, matrix, v[:3])": "must be vectors", "gs.addr(matrix, v[:3], scalar)": "must be vectors"},
        ["gs.addr(matrix, v[:3], v[1:])"],
    ),
    "uniform_": ({"gs.zeros(2).uniform_(1, 0.9)": "return a"}, ["gs.zeros(2).uniform_(1, 1)"]),
    "normal_": ({"gs.zeros(2).normal_(0, -0.1)": "std >= 0"}, ["gs.zeros(2).normal_(0, 0)"]),
    "exponential_": ({"gs.zeros(2).exponential_(0)": "lambd > 0"}, ["gs.zeros(2).exponential_(0.1)"]),
    "log_normal_": ({"gs.zeros(2).log_normal_(0, 0)": "std > 0"}, ["gs.zeros(2).log_normal_(0, 0.1)"]),
    "cauchy_": ({"gs.zeros(2).cauchy_(0, 0)": "sigma > 0"}, ["gs.zeros(2).cauchy_(0, 0.1)"]),
    "geometric_": (
        {"gs.zeros(2).geometric_(0)": "(0, 1)", "gs.zeros(2).geometric_(1)": "(0, 1)"},
        ["gs.zeros(2).geometric_(0.1)", "gs.zeros(2).geometric_(0.9)"],
    ),
    "bernoulli_": (
        {"gs.zeros(2).bernoulli_(-0.1)": "[0, 1]", "gs.zeros(2).bernoulli_(1.1)": "[0, 1]"},
        ["gs.zeros(2).bernoulli_(0)", "gs.zeros(2).bernoulli_(1)"],
    ),
    "multinomial": (
        {
            "gs.multinomial(stack, 1)": "1 or 2 dim",
            "gs.multinomial(scalar, 1)": "1 or 2 dim",
            "gs.multinomial(v, 0)": "n_sample <= 0",
            "gs.multinomial(v, 5)": "without replacement",
        },
        ["gs.multinomial(v, 1)", "gs.multinomial(x, 4)", "gs.multinomial(v, 5, replacement=True)"],
    ),
    "hardtanh": ({"f.hardtanh(v, 1, 0.9)": "greater than max_val"}, ["f.hardtanh(v, 1, 1)"]),
    "celu": ({"f.celu(v, 0)": "cannot be 0"}, ["f.celu(v, 0.1)", "f.celu(v, -0.1)"]),
    "prelu": (
        {
            "f.prelu(v, scalar.double())": "one dtype",
            "f.prelu(x, x)": "a number or a vector",
            "f.prelu(x, gs.rand(3))": "one per channel",
            "f.prelu(x, gs.rand(2))": "one per channel",
        },
        ["f.prelu(x, scalar)", "f.prelu(x, gs.rand(4))", "f.prelu(x, gs.rand(1))", "f.prelu(v, scalar)"],
    ),
    "softshrink": ({"f.softshrink(v, -0.1)": "negative"}, ["f.softshrink(v, 0)"]),
    "glu": (
        {"f.glu(scalar)": "at least one", "f.glu(gs.rand(3))": "even size"},
        ["f.glu(v)", "f.glu(gs.rand(2, 3), 0)"],
    ),
    "bucketize": ({"gs.bucketize(v, x)": "a vector", "gs.bucketize(v, scalar)": "a vector"}, ["gs.bucketize(x, v)"]),
    "trapezoid": (
        {"gs.trapezoid(stack, x)": "a vector or", "gs.trapezoid(v, x)": "a vector or"},
        ["gs.trapezoid(x, v)", "gs.trapezoid(x, x)"],
    ),
    "unsafe_split": (
        {
            "scalar.unsafe_split(1)": "at least a 1-dimensional",
            "v.unsafe_split(0)": "positive, or 0",
            "v.unsafe_split(-1)": "positive, or 0",
        },
        ["v.unsafe_split(1)", "gs.rand(0).unsafe_split(0)"],
    ),
    "unsafe_split_with_sizes": (
        {
            "scalar.unsafe_split_with_sizes([1])": "at least a 1-dimensional",
            "v.unsafe_split_with_sizes([1, 2])": "sum to",
            "v.unsafe_split_with_sizes([5, -1])": "must not be negative",
        },
        ["v.unsafe_split_with_sizes([4, 0])"],
    ),
    "trace": ({"gs.trace(v)": "a matrix", "gs.trace(stack)": "a matrix"}, ["gs.trace(x)"]),
    "vander": ({"gs.vander(x)": "one-dimensional"}, ["gs.vander(v)"]),
    "linalg_vander": (
        {
            "linalg.vander(scalar)": "or N be given",
            "linalg.vander(v, N=1)": "greater than 1",
            "linalg.vander(gs.rand(1))": "greater than 1",
        },
        ["linalg.vander(scalar, N=2)", "linalg.vander(gs.rand(2))"],
    ),
    "fliplr": ({"gs.fliplr(v)": "at least two"}, ["gs.fliplr(x)"]),
    "flipud": ({"gs.flipud(scalar)": "at least one"}, ["gs.flipud(v)"]),
    "slice_copy": ({"gs.slice_copy(v, step=0)": "must be positive"}, ["gs.slice_copy(v, step=1)"]),
    "nonzero_static": ({"gs.nonzero_static(v, size=-1)": "non-negative"}, ["gs.nonzero_static(v, size=0)"]),
    "scatter_reduce": (
        {"x.scatter_reduce(0, index, x, 'max')": "either sum, prod"},
        [f"x.scatter_reduce(0, index, x, {name!r})" for name in ("sum", "prod", "mean", "amax", "amin")],
    ),
    "index_reduce": (
        {"x.index_reduce(0, index[0, :2], x, 'sum')": "one of prod"},
        [f"x.index_reduce(0, index[0, :2], x, {name!r})" for name in ("prod", "mean", "amax", "amin")],
    ),
    "matrix_transpose": ({"gs.matrix_transpose(v)": "at least two"}, ["gs.matrix_transpose(x)"]),
    "linalg_cross": (
        {
            "linalg.cross(matrix, matrix[0])": "as many dimensions",
            "linalg.cross(x, x)": "length 3",
            "linalg.cross(gs.rand(1, 3), gs.rand(1, 1))": "length 3",
            "linalg.cross(gs.rand(1, 1), gs.rand(1, 3))": "length 3",
        },
        ["linalg.cross(matrix, matrix)", "linalg.cross(gs.rand(3, 2), gs.rand(3, 2), dim=0)"],
    ),
    "chain_matmul": (
        {
            "gs.chain_matmul()": "one or more",
            "gs.chain_matmul(x, v)": "tensor 1 must be a matrix",
            "gs.func.vmap(gs.chain_matmul)(matrix, matrix)": "tensor 0 must be a matrix",
        },
        ["gs.chain_matmul(x)", "gs.func.vmap(gs.chain_matmul)(stack[:, :3, :3], stack)"],
    ),
    "linalg_multi_dot": ({"linalg.multi_dot([x])": "at least two"}, ["linalg.multi_dot([x, x.mT])"]),
    "linalg_svd": (
        {"linalg.svd(v)": "at least 2", "linalg.svd(x, driver='gesdd')": "one of gesvd"},
        [f"linalg.svd(x, driver={name!r})" for name in (None, "gesvd", "gesvdj", "gesvda")],
    ),
    "linalg_svdvals": (
        {"linalg.svdvals(x, driver='gesdd')": "one of gesvd"},
        [f"linalg.svdvals(x, driver={name!r})" for name in (None, "gesvd", "gesvdj", "gesvda")],
    ),
    "svd": ({"gs.svd(v)": "at least 2"}, ["gs.svd(x)"]),
    "linalg_tensorinv": ({"linalg.tensorinv(matrix, ind=0)": "strictly positive"}, ["linalg.tensorinv(matrix, ind=1)"]),
    "lu_unpack": ({"gs.lu_unpack(lu, pivots[0])": "those of linalg.lu_factor"}, ["gs.lu_unpack(lu, pivots)"]),
    "linalg_lu_solve": (
        {
            "linalg.lu_solve(lu, pivots[0], matrix)": "those of linalg.lu_factor",
            "linalg.lu_solve(lu, pivots[:2], matrix)": "each row",
        },
        ["linalg.lu_solve(lu, pivots, matrix)"],
    ),
    "lu_solve": (
        {
            "gs.lu_solve(matrix, lu, pivots[0])": "those of linalg.lu_factor",
            "gs.lu_solve(matrix, lu, pivots[:2])": "each row",
        },
        ["gs.lu_solve(matrix, lu, pivots)"],
    ),
    "orgqr": (
        {"gs.orgqr(x.mT, gs.rand(2).double())": "same dtype", "gs.orgqr(x.mT, scalar)": "one dimension less"},
        ["gs.orgqr(x.mT, gs.rand(2))"],
    ),
    "ormqr": (
        {
            "gs.ormqr(matrix, gs.rand(3).double(), matrix)": "same dtype",
            "gs.ormqr(matrix, scalar, matrix)": "one dimension less",
        },
        ["gs.ormqr(matrix, gs.rand(3), matrix)"],
    ),
    "linalg_solve_toeplitz.pair": (
        {"linalg.solve_toeplitz([v], v)": "first column and the first row"},
        ["linalg.solve_toeplitz([v + 4 * (gs.arange(4) == 0), v], v)"],
    ),
    "matrix_exp": ({"gs.matrix_exp(v)": "at least 2"}, ["gs.matrix_exp(matrix)"]),
    "linalg_matrix_norm": ({"linalg.matrix_norm(v)": "at least two"}, ["linalg.matrix_norm(x)"]),
    "linalg_matrix_rank": ({"linalg.matrix_rank(v)": "at least 2"}, ["linalg.matrix_rank(x)"]),
    "smooth_l1_loss": ({"f.smooth_l1_loss(v, v, beta=-0.1)": "negative"}, ["f.smooth_l1_loss(v, v, beta=0)"]),
    "huber_loss": ({"f.huber_loss(v, v, delta=0)": "non-positive"}, ["f.huber_loss(v, v, delta=0.1)"]),
    "triplet_margin_loss": (
        {"f.triplet_margin_loss(x, x, x, margin=0)": "greater than 0"},
        ["f.triplet_margin_loss(x, x, x, margin=0.1)"],
    ),
    "multi_margin_loss": (
        {"f.multi_margin_loss(x, index[0, :2], weight=gs.rand(3))": "each class"},
        ["f.multi_margin_loss(x, index[0, :2], weight=v)", "f.multi_margin_loss(x, index[0, :2])"],
    ),
    "multilabel_soft_margin_loss": (
        {"f.multilabel_soft_margin_loss(scalar, scalar)": "dimension of classes"},
        ["f.multilabel_soft_margin_loss(v, v)"],
    ),
    "bilinear": (
        {"f.bilinear(x, x, gs.rand(3, 4, 4), gs.rand(4))": "each of the outputs"},
        ["f.bilinear(x, x, gs.rand(3, 4, 4), gs.rand(3))", "f.bilinear(x, x, gs.rand(3, 4, 4))"],
    ),
    "native_group_norm": (
        {
            "gs.native_group_norm(v, None, None, 4, 1, 1, 1, 0.1)": "first two sizes",
            "gs.native_group_norm(stack, None, None, 3, 3, 4, 1, 0.1)": "first two sizes",
            "gs.native_group_norm(stack, None, None, 2, 2, 4, 1, 0.1)": "first two sizes",
            "gs.native_group_norm(stack, None, None, 2, 3, 3, 1, 0.1)": "product of the other",
        },
        ["gs.native_group_norm(stack, None, None, 2, 3, 4, 1, 0.1)"],
    ),
    "conv_tbc": (
        {
            "gs.conv_tbc(x, gs.rand(1, 4, 2), gs.rand(2))": "3 dims: time",
            "gs.conv_tbc(stack, x, gs.rand(2))": "3 dims: window",
        },
        ["gs.conv_tbc(stack, gs.rand(1, 4, 2), gs.rand(2))"],
    ),
    **{
        f"conv{n}d": (
            {f"f.conv{n}d(gs.rand({sizes}), gs.rand({sizes}), scalar)": "one dimension"},
            [f"f.conv{n}d(gs.rand({sizes}), gs.rand({sizes}), gs.rand(2))"],
        )
        for n, sizes in ((1, "2, 2, 2"), (2, "2, 2, 2, 2"), (3, "2, 2, 2, 2, 2"))
    },
    "adaptive_avg_pool1d": ({"f.adaptive_avg_pool1d(whole, 1)": "int64"}, ["f.adaptive_avg_pool1d(stack, 1)"]),
    "adaptive_avg_pool2d": ({"f.adaptive_avg_pool2d(whole, 1)": "int64"}, ["f.adaptive_avg_pool2d(stack, 1)"]),
    "adaptive_avg_pool3d": (
        {"f.adaptive_avg_pool3d(whole[None], 1)": "int64"},
        ["f.adaptive_avg_pool3d(stack[None], 1)"],
    ),
    "polygamma": ({"gs.polygamma(-1, v)": "negative n"}, ["gs.polygamma(0, v)"]),
    "mvlgamma": ({"gs.mvlgamma(v + 4, 0)": "equal to 1"}, ["gs.mvlgamma(v + 4, 1)"]),
    **{
        f"special_spherical_{kind}": (
            {f"special.spherical_{kind}(-1, v)": "has to be positive"},
            [f"special.spherical_{kind}(0, v)"],
        )
        for kind in ("jn", "yn", "in", "kn")
    },
    "special_expn": ({"special.expn(-1, v)": "has to be positive"}, ["special.expn(0, v)"]),
}

PUBLIC = {key_of(row): row for row in OPS if row.requires and "internal" not in row.forms}


@pytest.mark.parametrize("key", CALLS)
def test_what_is_just_outside_is_refused(key):
    for call, words in CALLS[key][0].items():
        with pytest.raises((RuntimeError, ValueError), match=re.escape(words)):
            eval(call)
    for call in CALLS[key][1]:
        eval(call)


@pytest.mark.parametrize("key", PUBLIC)
def test_every_requirement_has_a_call(key):
    words = CALLS[key][0].values()
    assert [message for message in PUBLIC[key].requires if not any(text in message for text in words)] == []
