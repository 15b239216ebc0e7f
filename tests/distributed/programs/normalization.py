"""`SyncBatchNorm` over the ranks against a batch normalization of all inputs in one process."""

import numpy as np

import gradsmith as gs

dist, nn = gs.distributed, gs.nn
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()


def parts_of(x):
    """Ranks have different numbers of images; the last one, if there are several, has none."""
    sizes = [3 + 2 * rank for rank in range(SIZE)]
    if SIZE > 1:
        sizes[-1] = 0
    ends = np.cumsum([0, *sizes])
    return x[: ends[-1]], slice(ends[RANK], ends[RANK + 1])


def images(*sizes, dtype=gs.float64):
    x = np.random.default_rng(0).standard_normal((40, *sizes)) * 3 + 5
    whole, own = parts_of(gs.tensor(x, dtype=dtype))
    return whole.requires_grad_(), whole.detach()[own].clone().requires_grad_(), own


def close(found, expected, atol=1e-12):
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-10, atol=atol)


def sum_over_ranks(x):
    x = x.clone()
    dist.all_reduce(x)
    return x


def layers(kind, **settings):
    gs.manual_seed(1)
    alone, together = kind(3, dtype=gs.float64, **settings), nn.SyncBatchNorm(3, dtype=gs.float64, **settings)
    with gs.no_grad():
        for p, q in zip(alone.parameters(), together.parameters()):
            q.copy_(p.uniform_(0.5, 2.0))
    return alone, together


def check_values_gradients_and_statistics():
    for kind, sizes in ((nn.BatchNorm1d, (3,)), (nn.BatchNorm1d, (3, 4)), (nn.BatchNorm2d, (3, 2, 5))):
        for settings in ({}, {"momentum": None}, {"affine": False}, {"track_running_stats": False}, {"bias": False}):
            alone, together = layers(kind, **settings)
            for _ in range(2):
                whole, own, places = images(*sizes)
                expected, found = alone(whole), together(own)
                close(found, expected[places])
                (expected**3).sum().backward()
                (found**3).sum().backward()
                close(own.grad, whole.grad[places], 1e-9)
            for p, q in zip(alone.parameters(), together.parameters()):
                close(sum_over_ranks(q.grad), p.grad, 1e-9)
            for p, q in zip(alone.buffers(), together.buffers()):
                close(q, p)
            alone.eval(), together.eval()
            if alone.track_running_stats:  # otherwise it is each rank's own input
                close(together(own), alone(whole)[places])


def check_second_derivatives():
    alone, together = layers(nn.BatchNorm1d)
    whole, own, places = images(3)
    for layer, x in ((alone, whole), (together, own)):
        (first,) = gs.autograd.grad((layer(x) ** 3).sum(), x, create_graph=True)
        (first**2).sum().backward()
    close(own.grad, whole.grad[places], 1e-8)


def check_in_a_network():
    """A step of a converted network, whose parameters are those of one process with the whole batch."""
    x = np.random.default_rng(3).standard_normal((4 * SIZE, 6))
    nets = []
    for own in (gs.tensor(x), gs.tensor(x[RANK::SIZE])):
        gs.manual_seed(2)
        net = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 1)).double()
        nets.append(net)
        if len(nets) == 2:
            net = nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(net))
        optimizer = gs.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            net(own).square().mean().backward()
            optimizer.step()
    for p, q in zip(nets[0].parameters(), net.module.parameters()):
        close(q, p)


def check_half_precision():
    layer = nn.SyncBatchNorm(3).half()
    whole, own, places = images(3, dtype=gs.float16)
    found = layer(own)
    assert found.dtype == gs.float16
    expected = (whole - whole.mean(0)) / whole.std(0, unbiased=False)
    np.testing.assert_allclose(found.detach(), expected.detach()[places], atol=1e-2)


def check_groups():
    """Each rank by itself."""
    own_group, _ = dist.new_subgroups(1)
    x = gs.tensor(np.random.default_rng(RANK).standard_normal((5, 3)))
    layer = nn.SyncBatchNorm(3, process_group=own_group, dtype=gs.float64)
    close(layer(x), nn.BatchNorm1d(3, dtype=gs.float64)(x))


def check_nothing():
    layer = nn.SyncBatchNorm(3)
    assert layer(gs.ones(0, 3)).shape == (0, 3)
    assert layer.running_mean.tolist() == [0, 0, 0] and layer.running_var.tolist() == [1, 1, 1]


def check_one_number_is_refused():
    rows = 1 if RANK == 0 else 0
    try:
        nn.SyncBatchNorm(3)(gs.ones(rows, 3))
    except ValueError as error:
        assert "Expected more than 1 value per channel" in str(error)
        return
    raise AssertionError("it was not refused")


for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
        dist.barrier()
dist.destroy_process_group()
print("done")
