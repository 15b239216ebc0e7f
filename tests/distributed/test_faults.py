"""A rank that fails ends the job, with an error that names it."""

import re
import time

import pytest

SUDDEN_END = r"\[rank 1\] process \d+ on \S+ ended without an exception: killed"
FAULTS = {
    "raises": r"\[rank 1\] ArithmeticError: this rank has failed",
    "dies": SUDDEN_END,
    "dies before its child": SUDDEN_END,
    "is killed": SUDDEN_END,
    "crashes": SUDDEN_END,
    "ends": r"all_reduce \(call 2 of group 0\) on rank 0: rank 1 has ended",
    "hangs": r"all_reduce \(call 2 of group 0\) on rank 0: it was not done after 2 s. It waits for: rank 1 came",
    "sizes": r"rank 0: all_reduce\(<f4, 2, SUM\)\n.*rank 1: all_reduce\(<f4, 3, SUM\)",
    "dtypes": r"rank 0: all_reduce\(<f4, 2, SUM\)\n.*rank 1: all_reduce\(<f8, 2, SUM\)",
    "calls lines": (
        r"rank 0: all_reduce\(<f4, 2, SUM\) at .*faults.py:\d+ in .*\n.*rank 1: broadcast\(.*\) at .*faults.py:\d+"
    ),
    "message": r"recv: rank 1 sends 3 elements of f4, but the tensor has 2 of f4",
    "parts": r"all_to_all: rank 1 sends 2 elements to rank 0, which expects 1",
    "later": r"rank 1: all_reduce\(<f4, 4, SUM\)",
    "interrupted": r"\[rank 0\] KeyboardInterrupt",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_error_ends_all(launch, fault):
    start = time.monotonic()
    done = launch(2, "faults.py", fault, timeout=60)
    assert done.returncode != 0
    assert time.monotonic() - start < 30
    assert re.search(FAULTS[fault], done.stderr + done.stdout), done.stderr[-3000:] + done.stdout[-1000:]


@pytest.mark.parametrize("fault", ["sizes", "later"])
def test_ranks_on_several_machines_agree_too(launch, fault):
    done = launch(2, "faults.py", fault, "--by-messages", timeout=60)
    assert done.returncode != 0
    assert re.search(FAULTS[fault], done.stderr + done.stdout), done.stderr[-3000:] + done.stdout[-1000:]


@pytest.mark.parametrize("fault", ["dies", "raises", "ends", "hangs", "sizes"])
def test_one_rank_tells_for_all(launch, fault):
    done = launch(4, "faults.py", fault, timeout=60)
    told = re.findall(r"\[rank \d\] (?:Traceback|process)", done.stderr)
    assert len(told) == 1, done.stderr


def test_survivors_of_a_rank_do_not_wait_until_the_timeout(launch):
    """Most launchers end all ranks of a job when one of them dies, but not all do."""
    start = time.monotonic()
    done = launch(3, "faults.py", "dies", "--timeout=50", timeout=60, options=["-disable-auto-cleanup"])
    assert time.monotonic() - start < 30
    assert re.search(r"\[rank 2\] process \d+ on \S+ ended without an exception", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_hangs_at_the_end(launch):
    done = launch(3, "ends.py")
    assert done.returncode == 0 and done.stdout.count("done") == 3, done.stderr
