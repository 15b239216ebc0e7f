"""Communication hooks of `DistributedDataParallel` against the averages without one."""

import numpy as np
from training import INPUTS, LABELS, expect_same_parameters, loss_of, network, train

import gradsmith as gs
from gradsmith.distributed.algorithms import ddp_comm_hooks
from gradsmith.distributed.algorithms.ddp_comm_hooks import debugging_hooks, default_hooks, powerSGD_hook

dist = gs.distributed
Parallel = gs.nn.parallel.DistributedDataParallel
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()
OWN = INPUTS[RANK::SIZE], LABELS[RANK::SIZE]
SMALL = {"bucket_cap_mb": 0.0003}
KINDS = [{}, SMALL, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}]


def trained(hook=None, state=None, steps=4, **kind):
    model = Parallel(network(), broadcast_buffers=False, **kind)
    if hook is not None:
        model.register_comm_hook(state, hook)
    train(model, gs.optim.Adam(model.parameters(), lr=1e-2), steps, *OWN)
    expect_same_on_all_ranks(model)
    return model.module


def expect_same_on_all_ranks(model):
    own = np.concatenate([p.detach().numpy().ravel() for p in model.parameters()])
    everyone = gs.empty(SIZE, own.size, dtype=gs.float64)
    dist.all_gather_into_tensor(everyone, gs.tensor(own))
    assert all(row.tobytes() == everyone.numpy()[0].tobytes() for row in everyone.numpy())


def sum_of_halves(state, bucket):
    """As users write them."""
    state.append((bucket.index(), bucket.is_last(), bucket.buffer().numel()))
    for gradient, parameter in zip(bucket.gradients(), bucket.parameters()):
        assert gradient.shape == parameter.shape
        gradient.mul_(0.5)
    work = dist.all_reduce(bucket.buffer(), group=dist.group.WORLD, async_op=True)
    return work.get_future().then(lambda future: future.value()[0].mul_(2 / SIZE))


def check_averages():
    for kind in KINDS:
        plain = trained(**kind)
        expect_same_parameters(trained(default_hooks.allreduce_hook, **kind), plain)
        expect_same_parameters(trained(sum_of_halves, [], **kind), plain)
        expect_same_parameters(trained(default_hooks.fp16_compress_hook, **kind), plain, 5e-3)
        wrapped = default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)
        expect_same_parameters(trained(wrapped, dist.group.WORLD, **kind), plain, 5e-3)


def check_buckets():
    seen = []
    module = trained(sum_of_halves, seen, steps=2, **SMALL)
    first, second = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert first == second and [index for index, _, _ in first] == list(range(len(first)))
    assert [is_last for _, is_last, _ in first] == [False] * (len(first) - 1) + [True]
    assert sum(size for _, _, size in first) == sum(p.numel() for p in module.parameters())


def check_buffers_that_are_set():
    bucket = dist.GradBucket(0, gs.ones(6), [gs.nn.Parameter(gs.ones(2, 2)), gs.nn.Parameter(gs.ones(2))], True)
    bucket.set_buffer(gs.arange(6.0))
    assert [g.tolist() for g in bucket.gradients()] == [[[0, 1], [2, 3]], [4, 5]]
    expect(ValueError, "set_buffer: buffer should have shape", lambda: bucket.set_buffer(gs.ones(5)))


def check_half_the_bytes_are_sent():
    traffic = dist.group.WORLD.traffic
    model = Parallel(network(), broadcast_buffers=False)
    model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    numbers = sum(p.numel() for p in model.parameters())
    padded = -(-numbers // SIZE) * SIZE
    traffic.reset()
    loss_of(model, *OWN).backward()
    assert traffic.total() == 2 * (SIZE - 1) * padded * 2 // SIZE  # two bytes each, where without a hook it is eight


def check_no_sync_and_join():
    seen = []
    model = Parallel(network())
    model.register_comm_hook(seen, sum_of_halves)
    with model.no_sync():
        loss_of(model, *OWN).backward()
    assert not seen
    optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
    with model.join():
        train(model, optimizer, 2 + RANK, *OWN)
    assert len(seen) == 1 + SIZE  # those that are done take part
    expect_same_on_all_ranks(model)


def check_nothing_is_sent():
    model = Parallel(network(), broadcast_buffers=False)
    model.register_comm_hook(None, debugging_hooks.noop_hook)
    loss_of(model, *OWN).backward()
    alone = network()
    loss_of(alone, *OWN).backward()
    for p, q in zip(model.parameters(), alone.parameters()):
        np.testing.assert_array_equal(p.grad, q.grad)


def check_power_sgd_of_full_rank():
    state = powerSGD_hook.PowerSGDState(
        None, matrix_approximation_rank=8, start_powerSGD_iter=2, min_compression_rate=0
    )
    expect_same_parameters(trained(powerSGD_hook.powerSGD_hook, state), trained(), 1e-9)


def check_columns_are_made_orthogonal():
    columns = gs.tensor(np.random.default_rng(0).standard_normal((6, 3)))
    for epsilon in (0, 1e-8):
        state = powerSGD_hook.PowerSGDState(None, 3, orthogonalization_epsilon=epsilon)
        found = state.orthogonal(columns)
        np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-7)
        np.testing.assert_allclose(found @ (found.T @ columns), columns, atol=1e-7)


def check_power_sgd_of_rank_one():
    state = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2, min_compression_rate=1)
    module = trained(powerSGD_hook.powerSGD_hook, state, steps=200)
    assert loss_of(module) < 0.2 * loss_of(network())
    assert state.iter == 200
    factor, before, after = state.compression_stats()
    assert before == 198 * (8 * 15 + 15 * 4) and after == 198 * (8 + 15 + 15 + 4) and factor == before / after
    wrapped = default_hooks.fp16_compress_wrapper(powerSGD_hook.powerSGD_hook)
    trained(wrapped, powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2, min_compression_rate=1))
    expect(ValueError, "Expect `start_powerSGD_iter` > 1", lambda: powerSGD_hook.PowerSGDState(None, 1, 1))


def check_hooks_by_name():
    for kind in ddp_comm_hooks.DDPCommHookType:
        model = Parallel(network())
        state = powerSGD_hook.PowerSGDState(None) if kind.name == "POWER_SGD" else None
        ddp_comm_hooks.register_ddp_comm_hook(kind, model, state)
        loss_of(model, *OWN).backward()


def expect(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no error: {text}")


def other_bucket(state, bucket: int):
    pass


def other_result(state, bucket) -> int:
    pass


def as_documented(state: object, bucket: dist.GradBucket) -> gs.futures.Future[gs.Tensor]:
    return default_hooks.allreduce_hook(None, bucket)


def check_mistakes():
    model = Parallel(network())
    expect(TypeError, "must be callable", lambda: model.register_comm_hook(None, 3))
    expect(TypeError, "must take a state and a bucket", lambda: model.register_comm_hook(None, lambda bucket: bucket))
    expect(ValueError, "bucket annotation should be", lambda: model.register_comm_hook(None, other_bucket))
    expect(ValueError, "return annotation should be", lambda: model.register_comm_hook(None, other_result))
    model.register_comm_hook(None, as_documented)
    expect(RuntimeError, "can only be called once", lambda: model.register_comm_hook(None, as_documented))
    for hook, text in (
        (lambda state, bucket: bucket.buffer(), "should return a Future of the averaged gradients, got Tensor"),
        (lambda state, bucket: completed(gs.ones(2)), "should give a tensor of shape"),
        (lambda state, bucket: completed(None), "but gives NoneType"),
    ):
        model = Parallel(network())
        model.register_comm_hook(None, hook)
        expect(RuntimeError, text, lambda model=model: loss_of(model, *OWN).backward())


def completed(value):
    future = gs.futures.Future()
    future.set_result(value)
    return future


for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
        dist.barrier()
print("done")
