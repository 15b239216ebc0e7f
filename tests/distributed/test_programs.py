"""What the programs of programs/ assert, with two ranks, four, and one."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RANKS = [1, 2, pytest.param(4, marks=pytest.mark.long)]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    "program", ["collectives.py", "gradients.py", "data_parallel.py", "comm_hooks.py", "blocks.py", "normalization.py"]
)
def test_ranks_agree_with_one_process(succeeds, program, ranks):
    assert succeeds(ranks, program).count("done") == ranks


def test_ranks_on_several_machines(succeeds):
    assert succeeds(2, "collectives.py", "--by-messages").count("done") == 2


def test_a_checkpoint_is_read_by_another_number_of_ranks(succeeds, tmp_path):
    succeeds(4, "checkpoints.py", "save", tmp_path)
    for ranks in (1, 2, 3):
        assert succeeds(ranks, "checkpoints.py", "load", tmp_path).count("done") == ranks


def test_runs_with_as_many_ranks_give_the_same_bits(succeeds):
    first, second = (succeeds(2, "same_bits.py").splitlines() for _ in range(2))
    assert sorted(first) == sorted(second) and len(set(first)) == 1


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("example", "says"),
    [
        ("digits_ddp.py", "all ranks have the same network"),
        ("heat_decomposed.py", "the sources are found to"),
    ],
)
def test_examples(succeeds, example, says, ranks):
    """They end with an error unless the accuracy, and the gradient to 1e-12, are those of one process."""
    printed = succeeds(ranks, EXAMPLES / example)
    assert printed.startswith(f"{ranks} ranks: ") and says in printed


def test_the_model_of_scaling_runs(succeeds, monkeypatch):
    monkeypatch.chdir(ROOT)
    network = ["--network", "a network", "5", "1.5"]
    printed = succeeds(2, ROOT / "benchmarks" / "scaling" / "__main__.py", "--rounds", "1", *network)
    assert "| a network | assumed | 5.0 µs | 1.50 GB/s |" in printed and "| a network | 512 |" in printed


def test_the_benchmark_runs(succeeds, monkeypatch):
    monkeypatch.chdir(ROOT)
    printed = succeeds(2, ROOT / "benchmarks" / "ranks.py", "--rounds", "1")
    assert "| all_reduce of | mpi4py | gradsmith | more |" in printed and "throughput of one rank times" in printed
