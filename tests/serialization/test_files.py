"""`save` and `load`: trees of tensors in files of our own, of safetensors and of NumPy."""

import contextlib
import io
import json
import os
import pickle
import random
import stat
import zipfile
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.serialization.errors import CorruptFileError

FORMATS = ["npz", "safetensors"]


def saved(value, **options):
    file = io.BytesIO()
    gs.save(value, file, **options)
    file.seek(0)
    return file


def there_and_back(value, **options):
    return gs.load(saved(value, **options))


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, (list, tuple, deque)):
        assert len(found) == len(expected) and getattr(found, "maxlen", None) == getattr(expected, "maxlen", None)
        for one, other in zip(found, expected):
            assert_same(one, other)
    elif isinstance(expected, gs.Tensor):
        assert found.dtype == expected.dtype and found.requires_grad == expected.requires_grad
        np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy(), strict=True)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, strict=True)
    else:
        assert found == expected or found != found


TREES = {
    "a tensor": gs.arange(6.0).reshape(2, 3),
    "a state dict": OrderedDict([("layer.weight", gs.ones(2, 3)), ("layer.bias", gs.zeros(2).requires_grad_())]),
    "nothing": {},
    "numbers": [1, -(10**30), 2.5, float("inf"), float("-inf"), float("nan"), -0.0, 1 + 2j, True, None, 2**62, 2**63],
    "texts": ["", "ä\U0001f600\x00\n", b"\x00\xff", bytearray(b"a"), "\ud800"],
    "containers": {1: (1, (2,)), "a": {"b": [[]]}, (1, "x"): {1, 2}, None: frozenset("a"), 2.5: range(3, 9, 2)},
    "counts": {"counter": Counter("aab"), "default": defaultdict(list, a=[1]), "none": defaultdict(None, a=1)},
    "values": [gs.float32, gs.int64, gs.device("cpu"), gs.device("meta"), gs.bfloat16, gs.float8_e5m2],
    "arrays": {"array": np.arange(4).reshape(2, 2), "number": np.float32(1.5), "empty": np.ones((0, 3)), "b": np.True_},
    "scalars": [gs.tensor(2.5), gs.tensor(True), gs.empty(0, 3)],
    "paths": [Path("a/b"), PurePosixPath("/x"), PureWindowsPath("c:\\x")],
    "dates": [
        datetime(2024, 2, 29, 1, 2, 3, 4), datetime(2024, 1, 1, tzinfo=timezone.utc), date(1, 1, 1), time(1, 2, fold=1),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=-2), "X")), timedelta(-1, 2, 3), timezone.utc,
    ],
    "queues": {"deque": deque([1, gs.ones(2)], 5), "endless": deque()},
    "shapes": [gs.ones(2, 3).shape, gs.Size([]), gs.Size([2**70])],
    "results": {"max": gs.arange(4.0).reshape(2, 2).max(0), "histogram": gs.histogram(gs.arange(4.0), 2)},
    "layouts": [gs.arange(6.0).reshape(2, 3).T, gs.arange(6.0)[::2], gs.ones(1).expand(4), gs.ones(2, 3, 4).mT],
    "names": {"a.b": gs.ones(1), "a": {"b": gs.zeros(1)}, "/../x": gs.ones(2), "\x00": gs.ones(3)},
    "long names": {"": gs.ones(4), "x" * 999: gs.ones(5), "\ud800": gs.ones(1)},
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", TREES)
def test_trees_come_back(name, format):
    assert_same(there_and_back(TREES[name], format=format), TREES[name])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64", "complex64", "complex128"])  # fmt: skip
def test_dtypes(dtype):
    value = gs.tensor(np.array([0, 1, 3]).astype(dtype))
    assert_same(there_and_back([value]), [value])
    if dtype == "complex128":
        with pytest.raises(TypeError, match="complex128, which safetensors does not have"):
            there_and_back([value], format="safetensors")
    else:
        assert_same(there_and_back([value], format="safetensors"), [value])


def test_shared_memory_is_shared_again():
    x = gs.arange(4.0)
    found = there_and_back({"a": x, "b": x, "c": x.detach(), "d": x[:2], "e": x.numpy()})
    found["a"][0] = 9.0
    assert found["b"] is found["a"] and found["c"][0].item() == 9.0 and found["e"][0] == 9.0
    assert found["d"].tolist() == [9.0, 1.0]
    with zipfile.ZipFile(saved({"a": x, "b": x})) as archive:
        assert archive.namelist() == ["a.npy", "tree.json"]


def views(x):
    strided = x.as_strided((2, 3), (1, 2), 1)
    return {"whole": x, "part": x[1:], "row": x[1], "mixed": strided, "column": x[:, 1], "same": x[:1].expand(3, 2, 4)}


@pytest.mark.parametrize("names", [["whole", "part"], ["row", "mixed"], ["column", "part", "whole"], ["same", "mixed"]])
def test_parts_of_one_memory_share_it_again(names):
    x = gs.arange(8.0).reshape(2, 4)
    found = there_and_back({name: views(x)[name] for name in names})
    assert_same(found, {name: views(x)[name] for name in names})
    for name in names:
        found[name].fill_(9.0) if name != "same" else found[name][0].fill_(9.0)
        views(x)[name].fill_(9.0) if name != "same" else views(x)[name][0].fill_(9.0)
        assert_same(found, {name: views(x)[name] for name in names})


def test_parts_in_files():
    x = gs.arange(6.0)
    with zipfile.ZipFile(saved({"a": x[1:], "b": x, "c": x[1:].requires_grad_()})) as archive:
        assert archive.namelist() == ["b.npy", "tree.json"]
    with zipfile.ZipFile(saved([x[:2], x[2:], x.view(gs.int32)])) as archive:  # no element is in two of one dtype
        assert archive.namelist() == ["0.npy", "1.npy", "2.npy", "tree.json"]
    mixed = there_and_back([np.arange(4.0)[::-1], gs.nn.Parameter(x), x[2:], gs.empty(0)])
    assert mixed[0].tolist() == [3, 2, 1, 0] and type(mixed[1]) is gs.nn.Parameter
    mixed[2].zero_()
    assert mixed[1].tolist() == [0, 1, 0, 0, 0, 0]
    array = np.arange(6).reshape(2, 3)
    backwards = there_and_back([array[::-1], array[:, 1:]])
    backwards[1][:] = 9
    assert backwards[0].tolist() == [[3, 9, 9], [0, 9, 9]]
    assert_same(there_and_back({"a": x, "b": x[1:]}, format="safetensors"), {"a": x, "b": x[1:]})
    assert set(safetensors_header(saved({"a": x, "b": x[1:]}, format="safetensors"))) == {"a", "b"}


def safetensors_header(file):
    data = file.read()
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


def test_tensors_without_a_shape():
    state = gs.nn.Sequential(gs.nn.LazyLinear(2, dtype=gs.float64), gs.nn.LazyBatchNorm1d()).state_dict()
    found = there_and_back(state)
    assert [type(value) for value in found.values()] == [type(value) for value in state.values()]
    assert found["0.weight"].dtype == gs.float64 and found["0.weight"].requires_grad
    layer = gs.nn.Sequential(gs.nn.LazyLinear(2, dtype=gs.float64), gs.nn.LazyBatchNorm1d())
    layer.load_state_dict(found)
    assert layer(gs.ones(4, 3, dtype=gs.float64)).shape == (4, 2)
    fixed = there_and_back(gs.nn.UninitializedParameter(requires_grad=False, device="meta"))
    assert type(fixed) is gs.nn.UninitializedParameter and not fixed.requires_grad and fixed.device.type == "meta"


def test_options_of_programs():
    options = Namespace(lr=0.1, shape=gs.Size([2]), inner=Namespace(path=Path("x")))
    assert there_and_back(options) == options
    assert there_and_back(datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)), fold=1)).fold == 1


def test_loaded_tensors_can_be_changed():
    found = there_and_back([gs.ones(2), np.ones(2)])
    found[0].add_(1.0)
    found[1] += 1
    assert found[0].tolist() == [2.0, 2.0] and found[1].tolist() == [2.0, 2.0]


def test_tensors_with_a_graph_lose_it():
    x = gs.ones(2, requires_grad=True)
    found = there_and_back(x * 2)
    assert found.is_leaf and found.requires_grad and found.tolist() == [2.0, 2.0]


def test_tensors_without_data():
    found = there_and_back([gs.empty(2, 3, device="meta"), gs.empty((), dtype=gs.int32, device="meta")])
    assert [(x.device.type, x.shape, x.dtype) for x in found] == [("meta", (2, 3), gs.float32), ("meta", (), gs.int32)]
    moved = gs.load(saved({"a": gs.ones(2)}), map_location="meta")
    assert moved["a"].device.type == "meta"


def test_parameters(monkeypatch):
    class Parameter(gs.Tensor):
        def __new__(cls, data, requires_grad=True):
            return gs.Tensor._make_subclass(cls, data, requires_grad)

    Parameter.__module__ = "gradsmith.nn.parameter"
    file = saved({"w": Parameter(gs.ones(2)), "fixed": Parameter(gs.ones(2), False)})
    monkeypatch.setattr(gs.nn, "Parameter", Parameter, raising=False)
    found = gs.load(file)
    assert type(found["w"]) is Parameter and found["w"].requires_grad and not found["fixed"].requires_grad
    monkeypatch.delattr(gs.nn, "Parameter")
    file.seek(0)
    assert gs.load(file)["w"].requires_grad


def test_metadata_of_a_state_dict():
    state = OrderedDict(a=gs.ones(1))
    state._metadata = OrderedDict([("", {"version": 1})])
    assert there_and_back(state)._metadata == {"": {"version": 1}}


def test_an_optimizer():
    p = gs.ones(3).requires_grad_()
    optimizer = gs.optim.Adam([p], lr=0.5)
    p.grad = gs.ones(3)
    optimizer.step()
    other = gs.optim.Adam([p])
    other.load_state_dict(there_and_back(optimizer.state_dict()))
    assert str(other) == str(optimizer)
    assert_same(other.state_dict()["state"], optimizer.state_dict()["state"])


# ---- what cannot be saved


class Network:
    def state_dict(self):
        return {}


class Zone(tzinfo):
    pass


class Pair(NamedTuple):
    first: int
    second: int


@pytest.mark.parametrize(
    "value, message",
    [
        ({"a": [0, Network()]}, r"'a.1' is a .*Network.*: save its state_dict\(\) instead.*with pickle"),
        ({"d": datetime(1, 1, 1, tzinfo=Zone())}, "'d' is a datetime.datetime"),
        (Pair(1, 2), "the value is a .*Pair"),
        (SimpleNamespace(), "the value is a types.SimpleNamespace"),
        ({"f": print}, "'f' is a builtins.builtin_function_or_method"),
        ({"s": np.array(["a"])}, "has dtype <U1"),
        ({"o": np.array([None])}, "has dtype object"),
        ({"m": np.ma.array([1])}, "'m' is a numpy.ma"),
        ({"d": defaultdict(lambda: 1)}, "'d' is a collections.defaultdict"),
        ({"d": np.dtype("U3")}, "'d' is a numpy.dtypes.StrDType"),
        ({Network(): 1}, "Network"),
    ],
)
def test_what_is_refused(value, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        gs.save(value, tmp_path / "file.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_tree_that_contains_itself():
    value = [gs.ones(1)]
    value.append(value)
    with pytest.raises(ValueError, match="more than 100 levels"):
        saved(value)
    deep = gs.ones(1)
    for _ in range(99):
        deep = [deep]
    assert there_and_back(deep)


def test_arguments():
    with pytest.raises(ValueError, match="there is no format 'pickle'; there are: npz, safetensors"):
        saved(1, format="pickle")
    for call in (
        lambda: gs.save(1, 3),
        lambda: gs.save(1, io.StringIO()),
        lambda: gs.load(io.StringIO("a")),
        lambda: gs.load(3),
    ):
        with pytest.raises(TypeError, match="expected a path or a binary file"):
            call()
    with pytest.raises(TypeError, match="unexpected keyword argument 'methods'"):
        gs.load(saved(1), methods=True)
    assert gs.load(saved(1), None, None, weights_only=False, mmap=True) == 1


# ---- paths


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path):
    path = tmp_path / "model.pt"
    gs.save([1], path)
    path.chmod(0o640)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        gs.save([lambda: 1], path)
    assert gs.load(path) == [1]
    gs.save([2], str(path))
    assert gs.load(path) == [2] and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [item.name for item in tmp_path.iterdir()] == ["model.pt"]
    link = tmp_path / "link"
    link.symlink_to(path)
    gs.save([3], link)
    assert link.is_symlink() and gs.load(path) == [3]
    with pytest.raises(FileNotFoundError):
        gs.save([1], tmp_path / "none" / "file")
    with pytest.raises(FileNotFoundError):
        gs.load(tmp_path / "none")
    gs.save([1], os.devnull)


def test_the_suffix_chooses_safetensors(tmp_path):
    gs.save({"a": gs.ones(2)}, tmp_path / "a.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes()[8:9] == b"{"
    assert_same(gs.load(tmp_path / "a.safetensors"), {"a": gs.ones(2)})


def test_tables_of_operators_have_a_loader_of_their_own(tmp_path, monkeypatch):
    import gradsmith.extension.loading

    calls = []
    monkeypatch.setattr(gradsmith.extension.loading, "load_ops", lambda path, **options: calls.append((path, options)))
    for suffix in (".yaml", ".yml"):
        with pytest.warns(DeprecationWarning, match="tables of operators are loaded by gradsmith.load_ops"):
            gs.load(tmp_path / f"table{suffix}", methods=True)
    assert calls == [(tmp_path / f"table{suffix}", {"methods": True}) for suffix in (".yaml", ".yml")]


# ---- files of others


def test_files_of_numpy():
    file = io.BytesIO()
    np.savez_compressed(file, a=np.arange(3), b=np.asfortranarray(np.ones((2, 3), ">f4")))
    file.seek(0)
    assert_same(gs.load(file), {"a": gs.arange(3), "b": gs.ones(2, 3)})
    file = io.BytesIO()
    np.save(file, np.arange(6).reshape(2, 3))
    file.seek(0)
    assert_same(gs.load(file), gs.arange(6).reshape(2, 3))
    for array in (np.array([None]), np.array(["a"]), np.zeros(1, [("a", int)]), np.zeros(2, np.longdouble)):
        file = io.BytesIO()
        np.save(file, array, allow_pickle=True)
        file.seek(0)
        with pytest.raises(CorruptFileError, match="of which there are no tensors"):
            gs.load(file)


def test_numpy_reads_ours():
    found = np.load(saved({"layer": {"weight": gs.ones(2, 3)}, "lr": 0.5}), allow_pickle=False)
    assert found["layer.weight"].shape == (2, 3)
    assert json.loads(found["tree.json"])["format"] == "gradsmith"


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return io.BytesIO(len(text).to_bytes(8, "little") + text + data)


def test_safetensors_as_others_write_it():
    """Two tensors and a remark, by the description of the format."""
    header = {
        "__metadata__": {"format": "pt"},
        "b": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]},
        "a": {"dtype": "I32", "shape": [1, 2], "data_offsets": [0, 8]},
    }
    data = np.array([1, 2], "<i4").tobytes() + np.array([1.0, -2.5], "<f4").view("<u2")[1::2].tobytes()
    found = gs.load(safetensors(header, data))
    assert_same(found, {"b": gs.tensor([1.0, -2.5]), "a": gs.tensor([[1, 2]], dtype=gs.int32)})


def test_safetensors_as_others_read_it():
    file = saved(
        {"b": gs.tensor([1, 2], dtype=gs.int16), "a": gs.ones(1, dtype=gs.float64)}, format="safetensors"
    ).read()
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    assert length % 8 == 0 and file[8 + length :] == np.float64(1).tobytes() + np.array([1, 2], "<i2").tobytes()
    assert header == {
        "a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
        "b": {"dtype": "I16", "shape": [2], "data_offsets": [8, 12]},
    }


def entry(**changes):
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


@pytest.mark.parametrize(
    "file",
    [
        safetensors(entry(data_offsets=[0, 4]), bytes(8)),
        safetensors(entry(data_offsets=[4, 12]), bytes(12)),
        safetensors(entry(data_offsets=[8, 0]), bytes(8)),
        safetensors(entry(data_offsets=[-8, 0]), bytes(8)),
        safetensors(entry(shape=[-2]), bytes(8)),
        safetensors(entry(shape=[10**30]), bytes(8)),
        safetensors(entry(shape=[2.0]), bytes(8)),
        safetensors(entry(dtype="F8_E4M3"), bytes(8)),
        safetensors(entry(dtype=3), bytes(8)),
        safetensors({**entry(), "b": entry()["a"]}, bytes(8)),
        safetensors(entry(), bytes(9)),
        safetensors(entry(), bytes(7)),
        safetensors({"a": 3}),
        safetensors({"a": {}}),
        safetensors({"__metadata__": {"gradsmith.tree": "{"}}),
        safetensors({"__metadata__": {"gradsmith.tree": '{"tensor": "a"}'}}),
        safetensors({"__metadata__": 3}),
        safetensors(b"{" * 100_000),
        safetensors(b'{"a": \xff}'),
        io.BytesIO((10**15).to_bytes(8, "little") + b"{}"),
        io.BytesIO(b"\xff" * 8 + b"{}"),
        io.BytesIO(b""),
        io.BytesIO(b"text"),
        io.BytesIO(b"\x80\x02K\x01."),
        io.BytesIO(b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }"),
        io.BytesIO(b"\x93NUMPY\x07\x00v\x00"),
        io.BytesIO(b"\x93NUMPY"),
    ],
)
def test_files_that_contradict_themselves(file):
    with pytest.raises(CorruptFileError):
        gs.load(file)


def archive_of(tree, **members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tree.json", tree if isinstance(tree, str) else json.dumps(tree))
        for name, data in members.items():
            archive.writestr(name, data)
    file.seek(0)
    return file


def of_version(tree, version=1):
    return {"format": "gradsmith", "version": version, "tree": tree}


@pytest.mark.parametrize(
    "tree, message",
    [
        (of_version(1, version=4), "a newer gradsmith may read it"),
        ({"tree": 1}, "not of version 1, 2 or 3"),
        ([], "not of version 1, 2 or 3"),
        ("{", "corrupt"),
        (of_version({"module": "os"}), "contains a 'module', which is not known"),
        (of_version({}), "contains a None"),
        (of_version({"tensor": "a"}), "has no member 'a.npy'"),
        (of_version({"dict": [1]}), "corrupt"),
        (of_version({"dict": [[[], 1]]}), "corrupt"),
        (of_version({"set": [[]]}), "corrupt"),
        (of_version({"int": 3}), "corrupt"),
        (of_version({"bytes": "?"}), "corrupt"),
        (of_version({"dtype": "object"}), "no tensors of dtype 'object'"),
        (of_version({"missing_dtype": "bool"}), "there is no dtype 'bool'"),
        (of_version({"missing_dtype": []}), "corrupt"),
        (of_version({"meta": [-1], "dtype": "float32"}), "corrupt"),
        (of_version({"defaultdict": [], "factory": "eval"}), "corrupt"),
        (of_version({"device": "gpu"}), "corrupt"),
        (of_version({"Size": [1.5]}), "a list of whole numbers"),
        (of_version({"path": 3, "of": "PosixPath"}), "corrupt"),
        (of_version({"path": "a", "of": "system"}), "corrupt"),
        (of_version({"datetime": "yesterday", "fold": 0, "zone": None}), "corrupt"),
        (of_version({"date": 3}), "corrupt"),
        (of_version({"timezone": [9, 0, 0], "name": None}), "corrupt"),
        (of_version({"timedelta": ["1", 0, 0]}), "a list of whole numbers"),
        (of_version({"Namespace": [[1, 2]]}), "corrupt"),
        (of_version({"deque": [], "maxlen": "a"}), "corrupt"),
        (of_version({"result": [], "of": ["os", "system"]}), "no op returns a os.system"),
        (of_version({"result": [], "of": ["gradsmith.generated.extremes", "max"]}), "no op returns"),
        (of_version({"result": [], "of": ["gradsmith.generated.none", "None"]}), "no op returns"),
        (of_version({"result": [1], "of": ["gradsmith.generated.extremes", "MaxDimResult"]}), "corrupt"),
        (of_version({"uninitialized": "Parameter"}), "no tensor of class 'Parameter'"),
        (json.dumps(of_version(0)).replace("0}", "[" * 150 + "]" * 150 + "}"), "more than 100 levels"),
        (json.dumps(of_version(0)).replace("0}", "[" * 10**6 + "]" * 10**6 + "}"), "corrupt"),
    ],
)  # fmt: skip
def test_trees_that_are_refused(tree, message):
    with pytest.raises(CorruptFileError, match=message):
        gs.load(archive_of(tree))


@pytest.mark.parametrize(
    "offset, shape, strides, message",
    [
        (0, [7], [1], "not within the 6 elements"),
        (-1, [2], [1], "not within"),
        (2, [2], [-3], "not within"),
        (6, [], [], "not within"),
        (5, [2, 2], [0, 1], "not within"),
        (0, [2], [], "no place"),
        (0, [-1], [1], "no place"),
        (0, [2.5], [1], "a list of whole numbers"),
        ("0", [2], [1], "a list of whole numbers"),
        (0, [2**40, 2**40], [0, 0], "corrupt"),
        (0, [1] * 99, [1] * 99, "corrupt"),
    ],
)  # fmt: skip
def test_parts_that_are_not_within_their_array(offset, shape, strides, message):
    file = io.BytesIO()
    np.save(file, np.arange(6.0))
    place = {"of": "a", "offset": offset, "shape": shape, "strides": strides}
    with pytest.raises(CorruptFileError, match=message):
        gs.load(archive_of(of_version({"tensor": place}, version=2), **{"a.npy": file.getvalue()}))


def test_archives_of_something_else():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", "text")
    file.seek(0)
    with pytest.raises(CorruptFileError, match="neither ours, nor NumPy's, nor a checkpoint of PyTorch"):
        gs.load(file)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", "text")
        archive.writestr("a.npy", "text")
    file.seek(0)
    with pytest.raises(CorruptFileError, match="two members of one name"):
        gs.load(file)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", "text")
    file.seek(0)
    with pytest.raises(CorruptFileError, match="packed in an unusual way"):
        gs.load(file)


@pytest.mark.parametrize("format", FORMATS)
def test_random_changes(format):
    rng = random.Random(2)
    x = gs.arange(4.0)
    both = [x, x[1:], x.shape, Path("a"), x.max(0), deque([datetime(2024, 1, 1, tzinfo=timezone.utc)])]
    tree = {"a": gs.ones(3), "b": [gs.zeros(2, 2), 1.5, "text"], "c": (gs.arange(3),), "d": both}
    original = saved(tree, format=format).read()
    for _ in range(1500):
        data = bytearray(original)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data))
            if rng.randrange(2):
                data[place] = rng.randrange(256)
            else:
                data[place : place + rng.randint(0, 5)] = data[rng.randrange(len(data)) :][: rng.randint(0, 5)]
        with contextlib.suppress(CorruptFileError):
            gs.load(io.BytesIO(bytes(data)))


def test_the_path_is_in_the_error(tmp_path):
    (tmp_path / "spoiled").write_bytes(b"PK\x03\x04")
    with pytest.raises(CorruptFileError, match=str(tmp_path / "spoiled")):
        gs.load(tmp_path / "spoiled")


@pytest.mark.parametrize("is_zip", [False, True])
def test_pytorchs_names_of_formats(is_zip):
    file = io.BytesIO()
    gs.save({"x": gs.arange(3)}, file, _use_new_zipfile_serialization=is_zip)
    file.seek(0)
    assert gs.load(file)["x"].tolist() == [0, 1, 2]
