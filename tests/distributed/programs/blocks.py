"""Divided optimizers, layers, grids and systems against one process that has all of it."""

import numpy as np
from training import INPUTS, LABELS, expect_same_parameters, network, train

import gradsmith as gs

dist = gs.distributed
blocks = dist.parallel
F = gs.nn.functional
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()
GENERATOR = np.random.default_rng(1)


def same(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found.detach(), expected.detach(), rtol=tolerance, atol=tolerance)


def check_optimizers():
    for kind, options in (
        (gs.optim.Adam, {"lr": 1e-2}), (gs.optim.SGD, {"lr": 0.1, "momentum": 0.9}), (gs.optim.AdamW, {"lr": 1e-2}),
        (gs.optim.RMSprop, {"lr": 1e-2}), (gs.optim.Adagrad, {"lr": 1e-2}),
    ):  # fmt: skip
        whole, divided = network(), network()
        train(whole, kind(whole.parameters(), **options), 5)
        optimizer = dist.optim.DistributedOptimizer(divided.parameters(), kind, **options)
        train(divided, optimizer, 5, INPUTS[RANK::SIZE], LABELS[RANK::SIZE])
        expect_same_parameters(whole, divided, 1e-12)


def check_states_are_divided():
    model = network()
    optimizer = dist.optim.ZeroRedundancyOptimizer(model.parameters(), gs.optim.Adam, lr=1e-2)
    train(model, optimizer, 1, INPUTS[RANK::SIZE], LABELS[RANK::SIZE])
    whole = sum(p.numel() for p in model.parameters())
    kept = sum(v.numel() for state in optimizer.state.values() for v in state.values() if getattr(v, "ndim", 0))
    assert kept == 2 * -(-whole // SIZE)


def check_traffic_of_the_optimizer():
    model = network()
    optimizer = dist.optim.DistributedOptimizer(model.parameters(), gs.optim.SGD, lr=0.1)
    group = dist.GroupMember.WORLD
    group.traffic.reset()
    train(model, optimizer, 1, INPUTS[RANK::SIZE], LABELS[RANK::SIZE])
    padded = -(-sum(p.numel() for p in model.parameters()) // SIZE) * SIZE * 8
    assert group.traffic.nbytes["reduce_scatter"] == group.traffic.nbytes["all_gather"] == padded // SIZE * (SIZE - 1)


def check_optimizer_with_data_parallel():
    whole = network()
    train(whole, gs.optim.Adam(whole.parameters(), lr=1e-2), 5)
    model = gs.nn.parallel.DistributedDataParallel(network(RANK))
    optimizer = dist.optim.DistributedOptimizer(
        [{"params": list(model.parameters()), "lr": 1e-2}], gs.optim.Adam, averages_gradients=False
    )
    train(model, optimizer, 5, INPUTS[RANK::SIZE], LABELS[RANK::SIZE])
    expect_same_parameters(whole, model.module, 1e-12)


def check_whole_optimizers_are_refused():
    try:
        dist.optim.DistributedOptimizer(network().parameters(), gs.optim.LBFGS)
    except ValueError as error:
        assert "LBFGS" in str(error)
        return
    raise AssertionError("LBFGS was not refused")


def check_linear_layers():
    for gathers in (True, False):
        gs.manual_seed(1)
        first, second = gs.nn.Linear(8, 12, dtype=gs.float64), gs.nn.Linear(12, 8, dtype=gs.float64)
        gs.manual_seed(1)
        columns = blocks.ColumnParallelLinear(8, 12, gather_output=gathers, dtype=gs.float64)
        rows = blocks.RowParallelLinear(12, 8, input_is_parallel=not gathers, dtype=gs.float64)
        x, z = INPUTS.clone().requires_grad_(), INPUTS.clone().requires_grad_()
        F.cross_entropy(second(first(x).tanh()), LABELS).backward()
        F.cross_entropy(rows(columns(z).tanh()), LABELS).backward()
        same(z.grad, x.grad)
        same(columns.weight.grad, blocks.part_of(first.weight.grad))
        same(columns.bias.grad, blocks.part_of(first.bias.grad))
        same(rows.weight.grad, blocks.part_of(second.weight.grad, 1))
        same(rows.bias.grad, second.bias.grad)


def check_regions_in_all_modes():
    def split_and_gathered(x):
        y = blocks.gather_from_ranks(blocks.split_among_ranks(x).sin() * 2)
        z = blocks.leave_parallel_region(blocks.part_of(blocks.enter_parallel_region(y), 1).exp().sum(1))
        return z.sum()

    def whole(x):
        return (x.sin() * 2).exp().sum()

    x, t = (gs.tensor(GENERATOR.standard_normal((3, 8))) for _ in range(2))
    for transformed in (
        gs.func.grad, lambda f: lambda x: gs.func.jvp(f, (x,), (t,))[1],
        lambda f: lambda x: gs.func.jvp(gs.func.grad(f), (x,), (t,))[1],
    ):  # fmt: skip
        same(transformed(split_and_gathered)(x), transformed(whole)(x), 1e-11)


def check_embedding():
    gs.manual_seed(2)
    whole = gs.nn.Embedding(12, 4, dtype=gs.float64)
    gs.manual_seed(2)
    divided = blocks.VocabParallelEmbedding(12, 4, dtype=gs.float64)
    indices = gs.tensor(np.random.default_rng(3).integers(0, 12, (3, 5)))
    same(divided(indices), whole(indices))
    (whole(indices) ** 2).sum().backward()
    (divided(indices) ** 2).sum().backward()
    same(divided.weight.grad, blocks.part_of(whole.weight.grad))


def check_cross_entropy():
    logits = gs.tensor(np.random.default_rng(4).standard_normal((6, 8)) * 20, requires_grad=True)
    target = gs.tensor(np.random.default_rng(5).integers(0, 8, 6))
    for reduction in ("mean", "sum", "none"):
        own = blocks.part_of(logits.detach(), 1).clone().requires_grad_()
        (whole,) = gs.autograd.grad(F.cross_entropy(logits, target, reduction=reduction).sum(), logits)
        loss = blocks.vocab_parallel_cross_entropy(own, target, reduction)
        same(loss, F.cross_entropy(logits, target, reduction=reduction))
        loss.sum().backward()
        same(own.grad, blocks.part_of(whole, 1))


def check_halos():
    grid = np.random.default_rng(6).standard_normal((8, 5))
    for dim, width, periodic in ((0, 1, False), (0, 2, True), (1, 1, False)):
        whole = grid if dim == 0 else np.ascontiguousarray(grid.T)
        own = blocks.part_of(gs.tensor(whole), dim)
        pad = [(width, width) if d == dim else (0, 0) for d in (0, 1)]
        padded = np.pad(whole, pad, mode="wrap") if periodic else np.pad(whole, pad)
        size = own.shape[dim]
        expected = np.take(padded, range(RANK * size, (RANK + 1) * size + 2 * width), dim)
        np.testing.assert_array_equal(blocks.halo_exchange(own, width, dim, periodic), expected)
    try:
        blocks.halo_exchange(gs.ones(2), 3)
    except ValueError as error:
        assert "between 0 and the 2 rows" in str(error)


def check_conjugate_gradients():
    n = 24
    right = np.random.default_rng(7).standard_normal(n)
    stiffness = gs.tensor(2.5, dtype=gs.float64, requires_grad=True)

    def product(u, stiffness):
        padded = blocks.halo_exchange(u)
        return stiffness * u - padded[:-2] - padded[2:]

    own = blocks.part_of(gs.tensor(right)).clone().requires_grad_()
    u = blocks.cg(product, own, stiffness)
    (u * u).sum().backward()
    matrix = np.diag(np.full(n, 2.5)) - np.eye(n, k=1) - np.eye(n, k=-1)
    solution = np.linalg.solve(matrix, right)
    adjoint = np.linalg.solve(matrix, 2 * solution)
    same(u, blocks.part_of(gs.tensor(solution)), 1e-11)
    same(own.grad, blocks.part_of(gs.tensor(adjoint)), 1e-10)
    total = stiffness.grad.clone()
    dist.all_reduce(total)
    np.testing.assert_allclose(total, -adjoint @ solution, rtol=1e-10)
    np.testing.assert_allclose(blocks.norm(u).detach(), np.linalg.norm(solution), rtol=1e-11)
    try:
        blocks.cg(product, own.detach(), stiffness.detach(), maxiter=2)
    except np.linalg.LinAlgError as error:
        assert "after 2 steps" in str(error)
        return
    raise AssertionError("it converged in two steps")


for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
        dist.barrier()
print("done")
