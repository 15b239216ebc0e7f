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
