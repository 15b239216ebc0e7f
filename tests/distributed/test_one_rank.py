"""A world of one rank, with MPI and without: the same calls, in this process."""

import subprocess
import sys

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.distributed import backends, world

dist = gs.distributed


@pytest.fixture(params=["alone", "mpi"])
def one_rank(request, monkeypatch):
    if request.param == "alone":
        monkeypatch.setattr(world, "_mpi", lambda: None)
    else:
        pytest.importorskip("mpi4py.MPI")
    dist.init_process_group(timeout=5)
    yield request.param
    dist.destroy_process_group()


def test_questions(one_rank):
    assert dist.is_available() and dist.is_initialized()
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, one_rank)
    assert dist.get_process_group_ranks() == [0]
    assert repr(dist.GroupMember.WORLD) == "<ProcessGroup world: rank 0 of 1>"
    with pytest.raises(RuntimeError, match="twice"):
        dist.init_process_group()


def test_questions_before_the_start(monkeypatch):
    assert dist.Backend("GLOO") == dist.Backend.GLOO == "gloo"
    assert dist.is_gloo_available() and dist.is_backend_available("cpu:gloo")
    others = (dist.is_nccl_available, dist.is_ucc_available, dist.is_xccl_available, dist.is_torchelastic_launched)
    assert not any(asks() for asks in others) and not dist.is_backend_available("cpu:gloo,cuda:nccl")
    assert dist.get_default_backend_for_device("cpu") == "mpi"
    with pytest.raises(ValueError, match="not registered for device : cuda"):
        dist.get_default_backend_for_device("cuda")
    for name in backends._LOCAL_RANKS:
        monkeypatch.delenv(name, raising=False)
    assert dist.get_node_local_rank(2) == 2
    with pytest.raises(RuntimeError, match="give fallback_rank"):
        dist.get_node_local_rank()
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert dist.get_node_local_rank(2) == 3


def test_another_launcher_is_noticed(monkeypatch):
    monkeypatch.setattr(world, "_mpi", lambda: None)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="WORLD_SIZE is 2.* mpiexec -n 2"):
        dist.init_process_group()
    assert not dist.is_initialized()
    dist.init_process_group(world_size=1)
    dist.destroy_process_group()
    monkeypatch.setenv("WORLD_SIZE", "1")
    dist.init_process_group()
    dist.destroy_process_group()


def test_collectives(one_rank):
    x = gs.tensor([1.0, 2.0])
    for op in dist.ReduceOp:
        if op.name[0] != "B":
            dist.all_reduce(x, op)
    dist.broadcast(x, 0)
    dist.reduce(x, 0)
    out = gs.empty(2)
    dist.all_gather_into_tensor(out, x)
    dist.reduce_scatter_tensor(out, x)
    dist.all_to_all_single(out, x)
    dist.scatter(out, [x], 0)
    each = [gs.empty(2)]
    dist.all_gather(each, x)
    dist.gather(x, each, 0)
    assert x.tolist() == out.tolist() == each[0].tolist() == [1, 2]
    dist.barrier()
    objects = [None]
    dist.all_gather_object(objects, "x")
    assert objects == ["x"]


def test_messages_to_itself(one_rank):
    work = dist.isend(gs.ones(2), 0)
    found = gs.zeros(2)
    assert dist.recv(found, 0) == 0
    work.wait()
    assert found.tolist() == [1, 1]
    with pytest.raises(dist.DistBackendError, match=r"recv .*it was not done after 5 s|recv"):
        dist.irecv(found, 0).wait(timeout=0.05)


def test_gradients(one_rank):
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    functional = dist.nn.functional
    for function in (functional.all_reduce, functional.reduce_scatter_tensor, functional.all_to_all_single):
        (grad,) = gs.autograd.grad((function(x) ** 2).sum(), x)
        assert grad.tolist() == [2, 4]
    assert functional.shift(x).tolist() == [0, 0]
    assert functional.shift(x, periodic=True).tolist() == [1, 2]


def test_training(one_rank):
    model = gs.nn.parallel.DistributedDataParallel(gs.nn.Linear(2, 1))
    optimizer = dist.optim.DistributedOptimizer(model.parameters(), gs.optim.Adam, averages_gradients=False)
    with model.join():
        model(gs.ones(3, 2)).sum().backward()
        optimizer.step()
    assert model.module.weight.grad.tolist() == [[3, 3]]
    with pytest.raises(TypeError, match="can't be pickled"):
        import pickle

        pickle.dumps(model)


MISTAKES = {
    "tensor": (lambda: dist.all_reduce([1.0]), TypeError, "all_reduce: tensor should be a Tensor, got list"),
    "source": (lambda: dist.broadcast(gs.ones(1), 1), ValueError, "Global rank 1 is not part of group world"),
    "no source": (lambda: dist.broadcast(gs.ones(1)), ValueError, "exactly one"),
    "shape": (
        lambda: dist.all_gather_into_tensor(gs.empty(3), gs.ones(2)), ValueError, r"shape \(1, 2\) or \(2,\)",
    ),
    "dtype": (lambda: dist.all_gather([gs.empty(2)], gs.ones(2, dtype=gs.float64)), ValueError, "dtype float64"),
    "list": (lambda: dist.all_gather([], gs.ones(2)), ValueError, "a tensor for each of 1 ranks, but has 0"),
    "bits": (lambda: dist.all_reduce(gs.ones(1), dist.ReduceOp.BXOR), RuntimeError, "BXOR is for integers and bools"),
    "order": (
        lambda: dist.all_reduce(gs.ones(1, dtype=gs.complex64), dist.ReduceOp.MAX), RuntimeError, "have no order",
    ),
    "average": (lambda: dist.all_reduce(gs.ones(1, dtype=gs.int64), dist.ReduceOp.AVG), RuntimeError, "floating-point"),
    "parts": (
        lambda: dist.all_to_all_single(gs.empty(2), gs.ones(2), [1], [2]), RuntimeError, "1 numbers with the sum 2",
    ),
    "recorded": (
        lambda: dist.broadcast(gs.ones(1, requires_grad=True) * 2, 0), RuntimeError, "distributed.nn.functional",
    ),
    "group": (lambda: dist.all_reduce(gs.ones(1), group=3), TypeError, "group should be a ProcessGroup, got int"),
    "ranks": (lambda: dist.new_group([0, 1]), ValueError, "different numbers below 1"),
    "no dimensions": (
        lambda: dist.nn.functional.reduce_scatter_tensor(gs.tensor(1.0)), RuntimeError, "without dimensions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(one_rank, mistake):
    call, kind, message = MISTAKES[mistake]
    with pytest.raises(kind, match=message):
        call()


def test_before_there_is_a_world():
    with pytest.raises(ValueError, match="get_rank: Default process group has not been initialized"):
        dist.get_rank()
    with pytest.raises(RuntimeError, match="there is no backend 'nccl'"):
        dist.init_process_group("nccl")
    with pytest.raises(RuntimeError, match="world_size is 2, but for MPI it is 1"):
        dist.init_process_group(world_size=2)
    with pytest.raises(RuntimeError, match="no process group to ask"):
        gs.utils.data.DistributedSampler(range(3))


def test_ops_over_simulated_ranks():
    """The first dimension has a row for each rank; so a program for many can be tried in one process."""
    from gradsmith.generated import collectives

    rows = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    total = collectives.all_reduce(rows, 2)
    assert total.tolist() == [[4, 6], [4, 6]]
    total[0].sum().backward()
    assert rows.grad.tolist() == [[1, 1], [1, 1]]
    assert collectives.all_to_all(rows, 2).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(RuntimeError, match="for 3 simulated ranks the first dimension should be 3"):
        collectives.all_reduce(rows, 3)
    shapes = collectives.all_gather(gs.empty(2, 5, 3, device="meta"), 2)
    assert shapes.shape == (2, 10, 3)


NEEDS_MPI = """
import os, sys
sys.modules["mpi4py"] = None
os.environ["PMI_SIZE"] = "3"
import gradsmith as gs
try:
    gs.distributed.init_process_group()
except ModuleNotFoundError as error:
    print(error)
"""


def test_without_mpi_the_extra_is_named():
    done = subprocess.run([sys.executable, "-c", NEEDS_MPI], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "init_process_group: this is one of 3 processes of an MPI job, which needs mpi4py: pip install 'gradsmith[mpi]'"
    )


def test_it_is_not_imported_with_gradsmith():
    code = "import sys, gradsmith; print([n for n in sys.modules if 'distributed' in n or 'mpi4py' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert np.array_equal(gs.ones(1).numpy(), [1])
