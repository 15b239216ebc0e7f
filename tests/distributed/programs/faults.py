"""Goes wrong on one rank, in the way that the argument says."""

import ctypes
import os
import signal
import sys
import time

import gradsmith as gs
from gradsmith.distributed.groups.board import Board

if "--by-messages" in sys.argv:  # as on several machines
    Board.has_all = lambda self, group, members: False
dist = gs.distributed
what = sys.argv[1]
dist.init_process_group(timeout=50 if "--timeout=50" in sys.argv else 2, debug="lines" in what)
RANK, SIZE = dist.get_rank(), dist.get_world_size()
LAST = RANK == SIZE - 1
dist.barrier()

if what == "raises" and LAST:
    raise ArithmeticError("this rank has failed")
if what == "dies" and LAST:
    os._exit(7)
if what == "dies before its child" and LAST:
    if not os.fork():
        os.closerange(0, 3)
        time.sleep(3)
    os._exit(7)
if what == "crashes" and LAST:
    ctypes.string_at(0)
if what == "is killed" and LAST:
    os.kill(os.getpid(), signal.SIGKILL)
if what == "ends" and LAST:
    sys.exit(0)
if what == "hangs" and LAST:
    time.sleep(100)
if what == "sizes":
    x = gs.full((2 + LAST,), float(RANK))
    try:
        dist.all_reduce(x)
    except dist.DistBackendError as error:
        assert x.tolist() == [RANK] * len(x)  # nothing was written
        raise error
if what == "dtypes":
    dist.all_reduce(gs.ones(2, dtype=gs.float64 if LAST else gs.float32))
if what == "calls lines":
    if LAST:
        dist.broadcast(gs.ones(2), 0)
    else:
        dist.all_reduce(gs.ones(2))
if what == "message":
    if LAST:
        dist.send(gs.ones(3), 0)
    elif RANK == 0:
        dist.recv(gs.zeros(2), SIZE - 1)
if what == "parts":
    own = [1 + LAST] + [1] * (SIZE - 1)
    dist.all_to_all_single(gs.empty(SIZE), gs.ones(sum(own)), [1] * SIZE, own)
if what == "later":
    dist.all_reduce(gs.ones(3 + LAST), async_op=True).wait()
if what == "interrupted" and RANK == 0:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
dist.all_reduce(gs.ones(2))
time.sleep(100)
