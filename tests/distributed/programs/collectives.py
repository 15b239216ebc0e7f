"""Every collective against what NumPy says of all ranks' arrays, for all dtypes and layouts."""

import sys

import numpy as np

import gradsmith as gs
from gradsmith.distributed.groups.board import Board
from gradsmith.distributed.groups.pinning import own_cores

if "--by-messages" in sys.argv:  # as on several machines
    Board.has_all = lambda self, group, members: False

dist = gs.distributed
BEFORE = gs.get_num_threads(), own_cores()
Op = dist.ReduceOp
dist.init_process_group(timeout=60)
RANK, SIZE = dist.get_rank(), dist.get_world_size()
DTYPES = [
    np.float16, np.float32, np.float64, np.complex64, np.complex128,
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.bool_,
]  # fmt: skip
REDUCED = {
    Op.SUM: lambda rows: rows.sum(0, dtype=rows.dtype), Op.PRODUCT: lambda rows: rows.prod(0, dtype=rows.dtype),
    Op.MIN: lambda rows: rows.min(0), Op.MAX: lambda rows: rows.max(0), Op.AVG: lambda rows: rows.mean(0),
    Op.BAND: np.bitwise_and.reduce, Op.BOR: np.bitwise_or.reduce, Op.BXOR: np.bitwise_xor.reduce,
}  # fmt: skip


def rows_of(dtype, shape, seed=0):
    """The same on all ranks: the array that each has."""
    values = np.random.default_rng(seed).integers(0, 4, (SIZE, *shape))
    return values.astype(dtype) * (1 + 1j if np.dtype(dtype).kind == "c" else np.dtype(dtype).type(1))


def layouts(array):
    """Tensors with these elements, contiguous and not."""
    yield gs.tensor(array)
    yield gs.tensor(np.ascontiguousarray(array.T)).T
    spread = np.repeat(array, 2, -1)
    yield gs.tensor(spread)[..., ::2]


def is_defined(op, kind):
    if kind == "c":
        return op in (Op.SUM, Op.PRODUCT, Op.AVG)
    if op in (Op.BAND, Op.BOR, Op.BXOR):
        return kind in "biu"
    return op is not Op.AVG or kind == "f"


def same(found, expected):
    np.testing.assert_array_equal(found.numpy(), expected)
    assert found.numpy().dtype == expected.dtype


def check_reductions():
    for dtype in DTYPES:
        rows = rows_of(dtype, (3, 2))
        for op, reduced in REDUCED.items():
            if not is_defined(op, rows.dtype.kind):
                try:
                    dist.all_reduce(gs.tensor(rows[RANK]), op)
                except RuntimeError as error:
                    assert op.name in str(error)
                    continue
                raise AssertionError((dtype, op))
            expected = reduced(rows).astype(dtype)
            for x in layouts(rows[RANK]):
                dist.all_reduce(x, op)
                same(x, expected)
            x = gs.tensor(rows[RANK])
            dist.reduce(x, SIZE - 1, op)
            same(x, expected if RANK == SIZE - 1 else rows[RANK])
            parts = rows_of(dtype, (SIZE, 2), 1)
            out = gs.empty(2, dtype=x.dtype)
            dist.reduce_scatter_tensor(out, gs.tensor(parts[RANK]), op)
            same(out, reduced(parts).astype(dtype)[RANK])
            dist.reduce_scatter(out, [gs.tensor(row) for row in parts[RANK]], op)
            same(out, reduced(parts).astype(dtype)[RANK])


def check_moves():
    for dtype in DTYPES:
        rows = rows_of(dtype, (3, 2))
        for x in layouts(rows[RANK]):
            dist.broadcast(x, SIZE - 1)
            same(x, rows[SIZE - 1])
        for x in layouts(rows[RANK]):
            out = gs.empty(3 * SIZE, 2, dtype=x.dtype)
            dist.all_gather_into_tensor(out, x)
            same(out, np.concatenate(rows))
            stacked = gs.empty(2, SIZE, 3, dtype=x.dtype).permute(1, 2, 0)
            dist.all_gather_into_tensor(stacked, x)
            same(stacked, rows)
            each = [gs.empty(3, 2, dtype=x.dtype) for _ in range(SIZE)]
            dist.all_gather(each, x)
            for tensor, row in zip(each, rows):
                same(tensor, row)
            dist.gather(x, each if RANK == 0 else None, 0)
            dist.scatter(each[0], list(gs.tensor(rows[0]).expand(SIZE, 3, 2)) if RANK == 0 else None, 0)
            same(each[0], rows[0])


def check_all_to_all():
    rows = rows_of(np.float64, (2 * SIZE, 2))
    out = gs.empty(2 * SIZE, 2, dtype=gs.float64)
    dist.all_to_all_single(out, gs.tensor(rows[RANK]))
    same(out, np.concatenate([row[2 * RANK : 2 * RANK + 2] for row in rows]))
    # Rank r sends r + q + 1 rows to rank q.
    sent = [RANK + q + 1 for q in range(SIZE)]
    x = gs.full((sum(sent),), float(RANK), dtype=gs.float64)
    out = gs.empty(sum(sent), dtype=gs.float64)
    dist.all_to_all_single(out, x, sent, sent)
    same(out, np.repeat(np.arange(SIZE, dtype=float), sent))
    outputs = [gs.empty(q + 1, RANK + 1) for q in range(SIZE)]
    dist.all_to_all(outputs, [gs.full((RANK + 1, q + 1), float(RANK)) for q in range(SIZE)])
    for q, tensor in enumerate(outputs):
        same(tensor, np.full((q + 1, RANK + 1), q, np.float32))


def check_messages():
    if SIZE == 1:
        return
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for dtype in DTYPES:
        rows = rows_of(dtype, (3, 2))
        for x in layouts(rows[RANK]):
            work = dist.isend(x, after, tag=3)
            found = gs.empty(2, 3, dtype=x.dtype).T
            assert dist.recv(found, before, tag=3) == before
            work.wait()
            assert work.is_completed() and work.is_success() and work.exception() is None
            same(found, rows[before])
    x, found = gs.full((5,), float(RANK)), gs.empty(5)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.irecv, found, before), dist.P2POp(dist.isend, x, after)]):
        work.wait()
    same(found, np.full(5, before, np.float32))
    dist.barrier()
    if RANK:
        dist.send(gs.full((2,), float(RANK)), 0)
    else:
        sources = {dist.recv(found[:2]) for _ in range(SIZE - 1)}
        assert sources == set(range(1, SIZE))


def check_objects():
    own = {"rank": RANK, "text": "x" * RANK, "tensor": gs.ones(RANK)}
    everyone = [None] * SIZE
    dist.all_gather_object(everyone, own)
    assert [one["text"] for one in everyone] == ["x" * rank for rank in range(SIZE)]
    assert [one["tensor"].shape for one in everyone] == [(rank,) for rank in range(SIZE)]
    gathered = [None] * SIZE if RANK == 0 else None
    dist.gather_object(RANK, gathered, 0)
    assert RANK or gathered == list(range(SIZE))
    objects = ["a", 1, None] if RANK == SIZE - 1 else [None] * 3
    dist.broadcast_object_list(objects, SIZE - 1)
    assert objects == ["a", 1, None]
    mine = [None]
    dist.scatter_object_list(mine, list(range(SIZE)) if RANK == 0 else None, 0)
    assert mine == [RANK]
    if SIZE > 1 and RANK == 0:
        dist.send_object_list([own, "end"], 1)
    elif RANK == 1:
        received = [None, None]
        assert dist.recv_object_list(received, 0) == 0
        assert received[1] == "end"


def check_handles():
    works = [dist.all_reduce(gs.full((1000,), float(i + RANK)), async_op=True) for i in range(20)]
    for i, work in reversed(list(enumerate(works))):
        assert work.wait() is True
        same(work.result()[0], np.full(1000, i * SIZE + sum(range(SIZE)), np.float32))


def check_groups():
    evens = list(range(0, SIZE, 2))
    group = dist.new_group(evens)
    assert (group is dist.GroupMember.NON_GROUP_MEMBER) == (RANK not in evens)
    assert dist.get_rank(group) == (evens.index(RANK) if RANK in evens else -1)
    if RANK in evens:
        assert dist.get_process_group_ranks(group) == evens
        x = gs.tensor([float(RANK)])
        dist.all_reduce(x, group=group)
        assert x.item() == sum(evens)
        dist.broadcast(x, group_src=len(evens) - 1, group=group)
        dist.destroy_process_group(group)
    backwards = dist.new_group(range(SIZE)[::-1], sort_ranks=False)
    assert dist.get_rank(backwards) == SIZE - 1 - RANK
    assert dist.get_process_group_ranks(backwards) == list(range(SIZE))[::-1]
    own = dist.new_group([RANK], use_local_synchronization=True)
    assert dist.get_world_size(own) == 1
    x = gs.ones(2)
    dist.all_reduce(x, group=own)
    assert x.tolist() == [1, 1]


def check_subgroups():
    """Halves, those of a machine, and those that are named; sums stay within them."""
    half = max(1, SIZE // 2)
    halves, machines = dist.new_subgroups(half), dist.new_subgroups()
    named = dist.new_subgroups_by_enumeration([[rank] for rank in range(SIZE)])
    assert [len(groups) for _, groups in (halves, machines, named)] == [SIZE // half, 1, SIZE]
    expected = (range(RANK // half * half, (RANK // half + 1) * half), range(SIZE), [RANK])
    for (own, groups), ranks in zip((halves, machines, named), expected):
        x = gs.tensor([float(RANK)])
        dist.all_reduce(x, group=own)
        assert x.item() == sum(ranks) and own in groups
        assert dist.get_process_group_ranks(own) == list(ranks)
    for wrong in (lambda: dist.new_subgroups(SIZE + 1), lambda: dist.new_subgroups_by_enumeration([[0], [0]])):
        try:
            wrong()
        except ValueError as error:
            assert "divide" in str(error)
        else:
            raise AssertionError("no error")
    assert dist.get_node_local_rank(0) == RANK
    dist.barrier(timeout=60)


def check_groups_of_which_ranks_have_different_numbers():
    """Groups that only their own ranks make, and then one of all."""
    for _ in range(RANK):
        dist.new_group([RANK], use_local_synchronization=True)
    everyone = dist.new_group()
    for calls in range(40):  # more than the board has words for
        x = gs.tensor([float(RANK + calls)])
        dist.all_reduce(x, group=everyone)
        assert x.item() == sum(range(SIZE)) + SIZE * calls


def check_handles_beside_calls_that_wait():
    """Some ranks wait where others go on."""
    tensors = [gs.full((3,), float(i + RANK)) for i in range(60)]
    works = [dist.all_reduce(x, async_op=(i + RANK) % 3 != 0) for i, x in enumerate(tensors)]
    for i, (work, x) in enumerate(zip(works, tensors)):
        assert work is None or work.wait()
        same(x, np.full(3, i * SIZE + sum(range(SIZE)), np.float32))


def check_versions():
    """A backward that needs what a collective has overwritten says so."""
    x = gs.ones(2, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    with gs.no_grad():
        dist.all_reduce(y)
    try:
        z.backward()
    except RuntimeError as error:
        assert "inplace operation" in str(error)
        return
    raise AssertionError("it was not noticed")


def check_traffic():
    group = dist.GroupMember.WORLD
    group.traffic.reset()
    nbytes = 8 * 1200
    dist.all_reduce(gs.ones(1200, dtype=gs.float64))
    assert group.traffic.nbytes["all_reduce"] == round(2 * (SIZE - 1) / SIZE * nbytes)
    dist.reduce_scatter_tensor(gs.empty(1200 // SIZE, dtype=gs.float64), gs.ones(1200, dtype=gs.float64))
    assert group.traffic.nbytes["reduce_scatter"] == round((SIZE - 1) / SIZE * nbytes)


for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
        dist.barrier()
dist.destroy_process_group()
assert not dist.is_initialized()
assert (gs.get_num_threads(), own_cores()) == BEFORE
dist.init_process_group("gloo", rank=RANK, world_size=SIZE)
dist.monitored_barrier(timeout=60)
print("done")
