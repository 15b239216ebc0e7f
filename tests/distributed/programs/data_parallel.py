"""`DistributedDataParallel` against one process that has the whole batch."""

import warnings

import numpy as np
from training import INPUTS, LABELS, expect_same_parameters, loss_of, network, train

import gradsmith as gs

dist = gs.distributed
Parallel = gs.nn.parallel.DistributedDataParallel
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()
OWN = INPUTS[RANK::SIZE], LABELS[RANK::SIZE]
KINDS = [
    {}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}, {"bucket_cap_mb": 0.0003},
    {"bucket_cap_mb": 0.0003, "gradient_as_bucket_view": True, "static_graph": True},
]  # fmt: skip


def expect_error(text, call):
    try:
        call()
    except RuntimeError as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no error: {text}")


def check_training():
    whole = network()
    train(whole, gs.optim.Adam(whole.parameters(), lr=1e-2), 5)
    for kind in KINDS:
        model = Parallel(network(seed=RANK), **kind)  # the values of the first rank count
        train(model, gs.optim.Adam(model.parameters(), lr=1e-2), 5, *OWN)
        expect_same_parameters(whole, model.module)
        assert next(iter(model.state_dict())).startswith("module.")


def check_gradients_go_on_being_added_up():
    for kind in KINDS:
        model = Parallel(network(), **kind)
        loss_of(model, *OWN).backward()
        loss_of(model, *OWN).backward()
        whole = network()
        (2 * loss_of(whole)).backward()
        for p, q in zip(model.parameters(), whole.parameters()):
            np.testing.assert_allclose(p.grad, q.grad, atol=1e-14)


def check_gradients_are_tensors_of_their_own():
    """A gradient that is a bucket by itself is left alone by a later backward."""
    model = Parallel(network(), bucket_cap_mb=0.0003)
    loss_of(model, *OWN).backward()
    first = [p.grad for p in model.parameters()]
    values = [grad.tolist() for grad in first]
    for p in model.parameters():
        p.grad = None
    (3 * loss_of(model, *OWN)).backward()
    assert [grad.tolist() for grad in first] == values
    assert not any(p.grad._is_view() for p in model.parameters())
    second = [p.grad for p in model.parameters()]
    loss_of(model, *OWN).backward()
    assert all(p.grad is grad for p, grad in zip(model.parameters(), second))


def check_only_gradients_are_summed():
    """Summing in place leaves alone what a gradient was computed from, and the gradients that hooks have kept."""
    model, alone = Parallel(network(), bucket_cap_mb=0.0003), network()
    kept = []
    for p in model.parameters():
        p.register_hook(kept.append)
    loss_of(model, *OWN).backward()
    loss_of(alone, *OWN).backward()
    assert sorted(map(np.sum, kept)) == sorted(np.sum(p.grad) for p in alone.parameters())
    weight = gs.nn.Parameter(gs.zeros(2, 3))
    flattened = Parallel(Flattened(weight))
    given = gs.arange(6.0) * (RANK + 1)
    flattened().backward(given)
    assert given.tolist() == [i * (RANK + 1) for i in range(6)]
    assert weight.grad.view(-1).tolist() == [i * (SIZE + 1) / 2 for i in range(6)]


class Flattened(gs.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self):
        return self.weight.reshape(-1)


def check_gradients_in_another_order():
    """Gradients that are not contiguous, and those that are differentiable, are copied to their bucket."""
    weight = gs.nn.Parameter(gs.ones(4, 3).T)
    model = Parallel(Flattened(weight), bucket_cap_mb=0.0003)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cycle that create_graph makes
        (model.module.weight.T * model().sum() * (RANK + 1.0)).sum().backward(create_graph=True)
    assert weight.grad.tolist() == [[24.0 * (SIZE + 1) / 2] * 4] * 3


def check_order_of_buckets():
    """Small gradients, of which the last is that of the first layer, do not hold up the large ones."""
    layers = [gs.nn.Linear(4, 300), gs.nn.Linear(300, 1000), gs.nn.Linear(1000, 3)]
    model = Parallel(gs.nn.Sequential(*layers))
    shapes = [[tuple(p.shape) for p in bucket.parameters] for bucket in model.reducer.buckets]
    assert shapes == [[(1000, 300)], [(3,), (3, 1000), (1000,), (300,), (300, 4)]]


def check_no_sync():
    for kind in KINDS:
        model = Parallel(network(), **kind)
        group = model.process_group
        with model.no_sync():
            group.traffic.reset()
            loss_of(model, *OWN).backward()
            assert not group.traffic.calls["all_reduce"]
        loss_of(model, *OWN).backward()
        whole = network()
        (2 * loss_of(whole)).backward()
        for p, q in zip(model.parameters(), whole.parameters()):
            np.testing.assert_allclose(p.grad, q.grad, atol=1e-14)


def check_traffic():
    model = Parallel(network(), broadcast_buffers=False)
    model.process_group.traffic.reset()
    loss_of(model, *OWN).backward()
    nbytes = sum(p.numel() * 8 for p in model.parameters())
    assert model.process_group.traffic.total() == round(2 * (SIZE - 1) / SIZE * nbytes)


def check_unused_parameters():
    uses = RANK == 0
    model = Parallel(network(with_third=True), find_unused_parameters=True)
    loss_of(model, *OWN, uses_third=uses).backward()
    alone = network(with_third=True)
    if uses:
        (loss_of(alone, *OWN, uses_third=True) / SIZE).backward()
        np.testing.assert_allclose(model.module.third.weight.grad, alone.third.weight.grad, atol=1e-14)
    assert model.module.third.weight.grad is not None  # some rank has used it
    model.zero_grad()
    loss_of(model, *OWN).backward()
    assert model.module.third.weight.grad is None  # no rank has
    model = Parallel(network(with_third=True))
    expect_error("does not depend on third.bias, third.weight", lambda: loss_of(model, *OWN).backward())


def check_buffers():
    model = Parallel(network())
    model.module.scale.fill_(RANK + 1.0)
    loss_of(model, *OWN).backward()
    assert model.module.scale.item() == 1
    model.eval()
    model.module.scale.fill_(RANK + 1.0)
    model(OWN[0])
    assert model.module.scale.item() == RANK + 1


def check_join():
    """Rank r has 2 + r inputs; the average is over all ranks, or over those with inputs."""
    for divides_by_all in (True, False):
        model = Parallel(network(), bucket_cap_mb=25 if divides_by_all else 0.0003)
        optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
        with model.join(divide_by_initial_world_size=divides_by_all):
            train(model, optimizer, 2 + RANK, *OWN)
            gradients = [p.grad.tolist() for p in model.parameters()]
        assert [p.grad.tolist() for p in model.parameters()] == gradients  # what the others go on with is not seen here
        whole = network()
        by_hand = gs.optim.SGD(whole.parameters(), lr=0.1)
        for step in range(1 + SIZE):
            active = [rank for rank in range(SIZE) if step < 2 + rank]
            by_hand.zero_grad()
            losses = [loss_of(whole, INPUTS[rank::SIZE], LABELS[rank::SIZE]) for rank in active]
            (sum(losses) / (SIZE if divides_by_all else len(active))).backward()
            by_hand.step()
        expect_same_parameters(whole, model.module)
    if SIZE > 1:
        model = Parallel(network())

        def stops():
            with model.join(throw_on_early_termination=True):
                train(model, gs.optim.SGD(model.parameters(), lr=0.1), 2 + RANK, *OWN)

        expect_error("throw_on_early_termination", stops)


def check_mistakes():
    expect_error("doesn't have any parameter", lambda: Parallel(gs.nn.Tanh()))
    if SIZE > 1:
        module = gs.nn.Linear(2 + (RANK == SIZE - 1), 1)
        text = f"the module of rank {SIZE - 1} has other parameters than that of rank 0"
        expect_error(text, lambda: Parallel(module))


def check_sampler():
    for length in (7, 8):
        sampler = gs.utils.data.DistributedSampler(range(length), shuffle=False)
        everyone = [None] * SIZE
        dist.all_gather_object(everyone, list(sampler))
        assert {number for one in everyone for number in one} == set(range(length))
        assert len({len(one) for one in everyone}) == 1


for name, check in list(globals().items()):
    if name.startswith("check_") and name != "check_mistakes":
        check()
        dist.barrier()
check_mistakes()
print("done")
