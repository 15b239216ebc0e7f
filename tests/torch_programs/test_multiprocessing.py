"""`gs.multiprocessing`: Python's, with `spawn`."""

import sys
from pathlib import Path

import pytest

import gradsmith as gs
import gradsmith.multiprocessing as mp

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)  # new processes find the functions there

import work_of_processes as work  # noqa: E402


def test_it_is_the_standard_one():
    import multiprocessing

    assert mp.Queue and mp.get_context("spawn") is multiprocessing.get_context("spawn")
    assert set(multiprocessing.__all__) - {"reducer"} <= set(mp.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        mp.nothing  # noqa: B018


def test_ways_of_sharing():
    before = mp.get_sharing_strategy()
    assert before in mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    with pytest.raises(AssertionError, match="invalid sharing strategy 'copy', expected one of"):
        mp.set_sharing_strategy("copy")
    mp.set_sharing_strategy(before)


def test_spawn(tmp_path):
    assert mp.spawn(work.write_sum, (tmp_path, gs.ones(3)), nprocs=2) is None
    assert [(tmp_path / str(i)).read_text() for i in range(2)] == ["3.0", "6.0"]


def test_the_error_of_a_process():
    with pytest.raises(
        mp.ProcessRaisedException, match="(?s)Process 1 terminated.*ValueError: the second one fails"
    ) as caught:
        mp.start_processes(work.fail, nprocs=2, start_method="spawn")
    assert caught.value.error_index == 1


def test_a_process_that_ends_itself():
    context = mp.spawn(work.leave, nprocs=1, join=False)
    assert len(context.pids()) == 1
    with pytest.raises(mp.ProcessExitedException, match="exit code 7") as caught:
        context.join()
    assert caught.value.exit_code == 7


def test_tensors_travel_as_values():
    with mp.get_context("spawn").Pool(1) as pool:
        assert pool.map(work.double, [1, 2]) == [2, 4]


def test_another_method_of_starting():
    with pytest.raises(ValueError, match="start_processes"):
        mp.spawn(work.fail, start_method="fork")


# ---- shared memory


def test_what_is_moved_to_shared_memory():
    x = gs.arange(6.0).view(2, 3).T.requires_grad_()
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared() and x.requires_grad
    place = x.data_ptr()
    assert x.share_memory_().data_ptr() == place and x[1:].is_shared() and not x.clone().is_shared()
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]] and gs.zeros(0).share_memory_().shape == (0,)
    (x * x).sum().backward()
    assert x.grad.tolist() == [[0, 6], [2, 8], [4, 10]] and not gs.empty(1, device="meta").share_memory_().is_shared()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_all_processes_see_what_one_writes(method):
    total = gs.zeros(4).share_memory_()
    module = gs.nn.BatchNorm1d(2).share_memory()
    assert all(tensor.is_shared() for tensor in module.state_dict().values())
    module.weight.note = "kept"
    mp.start_processes(work.add_to, (total[1:3], module), nprocs=2, start_method=method)
    assert total.tolist() == [0, 3, 3, 0] and module.weight.tolist() == [3, 3] and module.bias.tolist() == [2, 2]


def test_gradients_are_those_of_another_module():
    """Asynchronous actor-critic programs compute them in each process, for the parameters that all share."""
    shared, own = gs.nn.Linear(2, 1, bias=False).share_memory(), gs.nn.Linear(2, 1, bias=False)
    own(gs.tensor([[1.0, 2.0]])).sum().backward()
    before = shared.weight.tolist()[0]
    shared.weight._grad = own.weight.grad
    assert shared.weight.grad is own.weight.grad is own.weight._grad
    gs.optim.SGD(shared.parameters(), lr=1.0).step()
    assert gs.allclose(shared.weight.detach(), gs.tensor([[before[0] - 1, before[1] - 2]]))
    assert shared.weight.is_shared()


def test_the_descriptor_of_memory_is_closed_with_it():
    import os

    def descriptors():
        return sum(is_open(number) for number in range(1024))

    def is_open(number):
        try:
            os.fstat(number)
        except OSError:
            return False
        return True

    before = descriptors()
    x = gs.ones(3).share_memory_()
    view = x[1:].detach()
    assert descriptors() > before
    del x
    assert view.add_(1).tolist() == [2, 2]
    del view
    assert descriptors() == before
