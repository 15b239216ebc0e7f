"""Datasets, samplers, and batches of samples."""

import doctest
import importlib
import pkgutil
from collections import Counter, OrderedDict, UserDict, namedtuple

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.utils.data
from gradsmith.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)
from gradsmith.utils.data.collate import collate

Point = namedtuple("Point", "x y")
MODULES = [m.name for m in pkgutil.walk_packages(gradsmith.utils.data.__path__, "gradsmith.utils.data.")]


def seeded(seed=0):
    return gs.Generator().manual_seed(seed)


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))

    def __len__(self):
        return self.count


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert not doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed


# ---- datasets


def test_tensors():
    data = TensorDataset(gs.arange(3), gs.arange(6.0).view(3, 2))
    assert len(data) == 3 and data[2][1].tolist() == [4.0, 5.0]
    for tensors in ((), (gs.ones(2), gs.ones(3)), (gs.tensor(1.0),)):
        with pytest.raises((AssertionError, ValueError), match="TensorDataset"):
            TensorDataset(*tensors)


def test_datasets_one_after_the_other():
    both = ConcatDataset([range(3), range(10, 12)])
    assert len(both) == 5 and [both[i] for i in range(5)] == [0, 1, 2, 10, 11] and both[-5] == 0
    assert both.cumulative_sizes == [3, 5]
    with pytest.raises(ValueError, match="absolute value of index"):
        both[-6]
    with pytest.raises(IndexError, match="index 5 is out of range for a dataset of 5 samples"):
        both[5]
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Numbers(3)])
    chain = Numbers(2) + Numbers(1)
    assert isinstance(chain, ChainDataset) and list(chain) == [0, 1, 0] and len(chain) == 3
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset([range(3)]))


def test_datasets_side_by_side():
    assert StackDataset(range(3), "abc")[1] == (1, "b")
    data = StackDataset(a=range(3), b=Subset("xyz", [2, 1, 0]))
    assert len(data) == 3 and data.__getitems__([0, 2]) == [{"a": 0, "b": "z"}, {"a": 2, "b": "x"}]
    assert StackDataset(range(3), "abc").__getitems__([2]) == [(2, "c")]
    for arguments, options, message in (
        ((), {}, "At least one dataset"),
        (("ab",), {"a": "ab"}, "both types are given"),
        (("ab", "abc"), {}, r"lengths are \[2, 3\]"),
    ):
        with pytest.raises(ValueError, match=message):
            StackDataset(*arguments, **options)


def test_base_classes():
    for call in (lambda: Dataset()[0], lambda: iter(IterableDataset()), lambda: iter(Sampler())):
        with pytest.raises(NotImplementedError, match="Subclasses of"):
            call()

    class Wrong(Dataset):
        def __getitems__(self, indices):
            return []

    with pytest.raises(ValueError, match="Expected 2, got 0"):
        Subset(Wrong(), [0, 1]).__getitems__([0, 1])


@pytest.mark.parametrize(
    "lengths, counts", [([3, 7], [3, 7]), ([0.35, 0.65], [4, 6]), ([1 / 3] * 3, [4, 3, 3]), ([1.0], [10])]
)
def test_random_parts(lengths, counts):
    parts = random_split(range(10), lengths, seeded())
    assert [len(part) for part in parts] == counts
    assert sorted(x for part in parts for x in part) == list(range(10))
    assert [list(part) for part in parts] == [list(part) for part in random_split(range(10), lengths, seeded())]


def test_parts_that_do_not_fit():
    with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
        random_split(range(10), [3, 4])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(10), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(2), [0.9, 0.1])


# ---- samplers


def test_random_orders():
    assert list(SequentialSampler("abcd")) == [0, 1, 2, 3]
    orders = [list(RandomSampler(range(50), generator=seeded(seed))) for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == list(range(50))
    sampler = RandomSampler(range(50))
    assert list(sampler) != list(sampler)
    assert sorted(SubsetRandomSampler([3, 1, 7], seeded())) == [1, 3, 7]


def test_more_samples_than_there_are():
    sampler = RandomSampler(range(4), num_samples=10, generator=seeded())
    found = list(sampler)
    assert len(found) == len(sampler) == 10 and sorted(found[:4]) == sorted(found[4:8]) == [0, 1, 2, 3]
    found = list(RandomSampler(range(4), replacement=True, num_samples=1000, generator=seeded()))
    assert all(150 < count < 350 for count in Counter(found).values()) and set(found) == {0, 1, 2, 3}


def test_a_seed_makes_orders_repeat():
    gs.manual_seed(3)
    first = list(RandomSampler(range(20)))
    gs.manual_seed(3)
    assert list(RandomSampler(range(20))) == first


def test_weights():
    found = Counter(WeightedRandomSampler([1, 0, 3], 4000, generator=seeded()))
    assert 0.2 < found[0] / 4000 < 0.3 and found[1] == 0
    assert sorted(WeightedRandomSampler(gs.tensor([1.0, 2.0, 3.0]), 3, False)) == [0, 1, 2]
    for weights, message in (([-1.0, 2.0], "not negative"), ([0.0, 0.0], "not all zero"), ([np.nan, 1], "finite")):
        with pytest.raises(RuntimeError, match=message):
            list(WeightedRandomSampler(weights, 1))
    with pytest.raises(RuntimeError, match="1 weights are positive"):
        list(WeightedRandomSampler([0.0, 1.0], 2, replacement=False))
    with pytest.raises(ValueError, match=r"weights have shape \(1, 2\)"):
        WeightedRandomSampler([[1, 2]], 1)


def test_batches_of_numbers():
    assert list(BatchSampler(range(7), 3, False)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(BatchSampler(range(7), 3, True)) == [[0, 1, 2], [3, 4, 5]]
    assert [len(BatchSampler(range(n), 3, drop)) for n in (6, 7) for drop in (False, True)] == [2, 2, 3, 2]


@pytest.mark.parametrize("count", [0, 1, 7, 9])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shares_of_processes(count, drop_last, shuffle):
    samplers = [DistributedSampler(range(count), 3, rank, shuffle, seed=1, drop_last=drop_last) for rank in range(3)]
    shares = [list(sampler) for sampler in samplers]
    assert {len(share) for share in shares} == {len(samplers[0])} == {count // 3 if drop_last else -(-count // 3)}
    found = Counter(x for share in shares for x in share)
    assert max(found.values(), default=0) <= 3 and (drop_last or set(found) == set(range(count)))
    if shuffle and count == 9:
        samplers[0].set_epoch(1)
        assert list(samplers[0]) != shares[0]


@pytest.mark.parametrize(
    "make, error, message",
    [
        (
            lambda: RandomSampler([]),
            ValueError,
            "num_samples should be a positive integer value, but got num_samples=0",
        ),
        (lambda: RandomSampler([1], 1), TypeError, "replacement should be a boolean value, but got replacement=1"),
        (lambda: WeightedRandomSampler([1], True), ValueError, "num_samples=True"),
        (lambda: WeightedRandomSampler([1], 1, 1), ValueError, "replacement=1"),
        (lambda: BatchSampler([1], 0, True), ValueError, "batch_size=0"),
        (lambda: BatchSampler([1], 1, 1), ValueError, "drop_last=1"),
        (lambda: DistributedSampler([1]), RuntimeError, "there is no process group to ask"),
        (lambda: DistributedSampler([1], 2, 2), ValueError, r"Invalid rank 2, rank should be in the interval \[0, 1\]"),
    ],
)
def test_samplers_that_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# ---- batches


def test_batches_of_tensors_and_numbers():
    assert default_collate([gs.ones(2), gs.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert default_collate([np.float32(1), np.float32(2)]).dtype == gs.float32
    assert default_collate([np.arange(2), np.arange(2)]).shape == (2, 2)
    assert default_collate([1.5, 2.5]).dtype == gs.float64 and default_collate([1, 2]).dtype == gs.int64
    assert default_collate([True, False]).dtype == gs.bool_ and default_collate([1j]).is_complex()
    assert default_collate(["a", "b"]) == ["a", "b"] and default_collate([b"a"]) == [b"a"]


def test_batches_of_containers():
    found = default_collate([{"a": (1, [2.0]), "b": Point(3, "x")}, {"a": (4, [5.0]), "b": Point(6, "y")}])
    assert found["a"][0].tolist() == [1, 4] and found["a"][1][0].tolist() == [2.0, 5.0]
    assert type(found["b"]) is Point and found["b"].x.tolist() == [3, 6] and found["b"].y == ("x", "y")
    assert (
        type(default_collate([OrderedDict(a=1)])) is OrderedDict and type(default_collate([UserDict(a=1)])) is UserDict
    )
    assert type(default_collate([(1, 2)])) is list


def test_batches_that_cannot_be_made():
    with pytest.raises(RuntimeError, match=r"should be of equal size; found sizes \[1, 2\]"):
        default_collate([[1], [1, 2]])
    with pytest.raises(
        TypeError, match="batch must contain tensors, numpy arrays, numbers, dicts or lists; found builtins.object"
    ):
        default_collate([object()])
    with pytest.raises(TypeError, match="found arrays of dtype <U1"):
        default_collate([np.array(["a"])])
    with pytest.raises(RuntimeError):
        default_collate([gs.ones(2), gs.ones(3)])
    with pytest.raises(KeyError):
        default_collate([{"a": 1}, {"b": 1}])


def test_functions_for_other_classes():
    functions = {
        str: lambda batch, collate_fn_map=None: "".join(batch),
        (int, float): lambda batch, collate_fn_map=None: sum(batch),
    }
    assert collate([("a", 1), ("b", 2)], collate_fn_map=functions) == ["ab", 3]


def test_single_samples():
    found = default_convert(
        {"a": np.arange(2), "b": (np.float32(1), "x"), "c": Point(np.ones(1), None), "d": np.array(["x"])}
    )
    assert found["a"].tolist() == [0, 1] and found["b"][0].item() == 1.0 and found["b"][1] == "x"
    assert isinstance(found["c"].x, gs.Tensor) and found["d"].tolist() == ["x"]
    assert default_convert(gs.ones(1)).tolist() == [1.0] and default_convert(range(2)) == [0, 1]


def test_texts_of_numpy_remain_a_list():
    batch = np.array(["a", "b"])
    assert default_collate(batch) is batch and default_collate([np.bytes_(b"a")]) == [b"a"]


@pytest.mark.parametrize("replacement", [False, True])
def test_a_pass_draws_one_seed_however_long_it_is(replacement):
    """So that what is drawn after it does not depend on the number of samples, as in PyTorch."""
    following = set()
    for length in (1, 10, 1000):
        gs.manual_seed(3)
        numbers = list(RandomSampler(range(length), replacement))
        following.add(gs.rand(()).item())
        gs.manual_seed(3)
        assert list(RandomSampler(range(length), replacement)) == numbers
    assert len(following) == 1
