"""Gradients of collectives: of the sum of all ranks' losses, against differences of it, and in every mode."""

import numpy as np

import gradsmith as gs

dist = gs.distributed
fn = dist.nn.functional
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()

FUNCTIONS = {
    "all_reduce": fn.all_reduce,
    "average": lambda x: fn.all_reduce(x, dist.ReduceOp.AVG),
    "broadcast": lambda x: fn.broadcast(x, SIZE - 1),
    "reduce": lambda x: fn.reduce(x, 0),
    "all_gather": lambda x: gs.stack(fn.all_gather(x)),
    "all_gather_into_tensor": fn.all_gather_into_tensor,
    "reduce_scatter_tensor": fn.reduce_scatter_tensor,
    "reduce_scatter": lambda x: fn.reduce_scatter([x * (q + 1) for q in range(SIZE)]),
    "gather": lambda x: gs.stack(fn.gather(x, SIZE - 1)),
    "scatter": lambda x: fn.scatter([x * (q + 1) for q in range(SIZE)], 0),
    "all_to_all": lambda x: gs.stack(fn.all_to_all([x * (q + 1) for q in range(SIZE)])),
    "all_to_all_single": fn.all_to_all_single,
    "shift": fn.shift,
    "ring": lambda x: fn.shift(x, -1, periodic=True),
    "halo": lambda x: dist.parallel.halo_exchange(x, 2),
    "in place": lambda x: in_place(x),
}


def in_place(x):
    y = x * 2
    dist.all_reduce(y)
    return y


def total_loss(function, x):
    """The sum over all ranks of a nonlinear loss."""
    loss = loss_of(function, gs.tensor(x)).detach()
    dist.all_reduce(loss)
    return loss.item()


def loss_of(function, x):
    y = function(x.sin())
    weights = gs.tensor(np.random.default_rng(RANK).standard_normal(tuple(y.shape)))
    return (weights * y.exp()).sum()


def check_against_differences(name, function):
    x = np.random.default_rng(10 + RANK).standard_normal((2 * SIZE, 3))
    leaf = gs.tensor(x, requires_grad=True)
    loss_of(function, leaf).backward()
    for rank in range(SIZE):
        for place in ((0, 0), (2 * SIZE - 1, 2)):
            step = np.zeros_like(x)
            step[place] = 1e-6 * (rank == RANK)
            slope = (total_loss(function, x + step) - total_loss(function, x - step)) / 2e-6
            if rank == RANK:
                np.testing.assert_allclose(leaf.grad.numpy()[place], slope, rtol=1e-6, atol=1e-7, err_msg=name)


def check_modes(name, function):
    """Forward mode, and derivatives of derivatives by both."""
    generator = np.random.default_rng(20 + RANK)
    x, t = (gs.tensor(generator.standard_normal((2 * SIZE, 3))) for _ in range(2))
    loss = lambda x: loss_of(function, x)  # noqa: E731
    tangent = gs.func.jvp(loss, (x,), (t,))[1]
    gradient = gs.func.grad(loss)(x)
    both = gs.stack([tangent, (gradient * t).sum()])
    dist.all_reduce(both)
    np.testing.assert_allclose(both[0], both[1], rtol=1e-10, err_msg=name)
    forward_over_reverse = gs.func.jvp(gs.func.grad(loss), (x,), (t,))[1]
    leaf = x.clone().requires_grad_()
    (first,) = gs.autograd.grad(loss(leaf), leaf, create_graph=True)
    (second,) = gs.autograd.grad((first * t).sum(), leaf)
    np.testing.assert_allclose(forward_over_reverse, second, rtol=1e-9, atol=1e-12, err_msg=name)


def check_messages():
    """Rank 0 sends, rank 1 computes with what it gets, and the gradient comes back."""
    if SIZE == 1:
        return
    if RANK == 0:
        x = gs.tensor([1.0, 2.0], dtype=gs.float64, requires_grad=True)
        (fn.send(x * 3, 1).sum() + (x * x).sum()).backward()
        np.testing.assert_allclose(x.grad, [2 + 3 * 2 * 3.0, 4 + 3 * 2 * 6.0])
    elif RANK == 1:
        like = gs.zeros(2, dtype=gs.float64, requires_grad=True)
        y = fn.recv(like, 0)
        assert y.tolist() == [3.0, 6.0]
        (y * y).sum().backward()
        assert like.grad.tolist() == [0, 0]


def check_checkpoints():
    x = gs.tensor(np.arange(3.0) + RANK, requires_grad=True)
    plain, kept = x.clone().detach().requires_grad_(), x.clone().detach().requires_grad_()
    loss_of(fn.all_reduce, plain).backward()
    gs.utils.checkpoint.checkpoint(lambda x: loss_of(fn.all_reduce, x), kept, use_reentrant=False).backward()
    np.testing.assert_array_equal(plain.grad, kept.grad)


def check_vmap_is_refused():
    try:
        gs.func.vmap(fn.all_reduce)(gs.ones(2, 2))
    except RuntimeError as error:
        assert "all_reduce can't be called inside of func.vmap" in str(error)
        return
    raise AssertionError("vmap was not refused")


def check_integers_have_no_gradient():
    x = gs.arange(4)
    assert fn.all_reduce(x).tolist() == [SIZE * i for i in range(4)]
    assert fn.all_reduce(x, dist.ReduceOp.MAX).tolist() == [0, 1, 2, 3]
    try:
        fn.all_reduce(gs.ones(2, requires_grad=True), dist.ReduceOp.MAX)
    except RuntimeError as error:
        assert "ReduceOp.MAX has no gradient" in str(error)
        return
    raise AssertionError("MAX was not refused")


for name, function in FUNCTIONS.items():
    check_against_differences(name, function)
    check_modes(name, function)
for name, check in list(globals().items()):
    if name.startswith("check_") and name not in ("check_against_differences", "check_modes"):
        check()
        dist.barrier()
print("done")
