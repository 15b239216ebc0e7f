"""Checkpoints of PyTorch: what is read, and what is refused. No file can make code run, or Python crash."""

import io
import pickle
import random
import struct
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError
from tests.serialization.pickles import CODES, called, checkpoint, name, program, storage, tensor, value_of

DATA = Path(__file__).parent / "data"


def load(*parts, **members):
    return gs.load(checkpoint(program(*parts), **members))


# ---- a file that PyTorch 2.13 wrote


@pytest.fixture(scope="module")
def found():
    return gs.load(DATA / "checkpoint.pt")


def test_a_state_dict(found):
    model = found["model"]
    assert type(model) is OrderedDict and list(model)[:2] == ["0.weight", "0.bias"]
    weight = np.arange(12, dtype=np.float32).reshape(4, 3) / 8 - 0.5  # after a step of Adam
    np.testing.assert_allclose(model["0.weight"].numpy(), weight, atol=1e-6)
    assert model["1.num_batches_tracked"].dtype == gs.int64 and model["1.num_batches_tracked"].shape == ()
    assert model._metadata["1"] == {"version": 2}


def test_an_optimizer_goes_on_from_it(found):
    params = [gs.zeros(*shape).requires_grad_() for shape in ((4, 3), (4,), (4,), (4,), (2, 4))]
    optimizer = gs.optim.Adam(params)
    optimizer.load_state_dict(found["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.5 and optimizer.state[params[1]]["step"].item() == 1.0
    for p in params:
        p.grad = gs.ones_like(p)
    optimizer.step()
    np.testing.assert_allclose(params[0].detach().numpy(), -0.5, rtol=1e-6)


def test_other_values(found):
    assert found["epoch"] == 3 and found["history"] == [(1, 0.25), (2, None)] and found["bytes"] == b"\x00\xff"
    assert found["best"] == 0.5 and type(found["best"]) is np.float64
    assert found["size"] == (2, 3) and found["dtype"] == gs.float64
    assert found["array"].tolist() == [[0, 1, 2], [3, 4, 5]] and type(found["array"]) is np.ndarray
    assert found["complex"].tolist() == [1 + 2j] and found["flags"].tolist() == [True, False]
    assert found["parameter"].requires_grad and found["parameter"].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(found["bfloat16"].numpy(), [1, -2.5, 3e38], rtol=1e-2)
    assert found["bfloat16"].dtype == gs.float32


def test_tensors_share_a_storage():
    whole, turned = gs.load(DATA / "checkpoint.pt")["shared"]
    assert turned.shape == (3, 2) and turned.stride() == (1, 3)
    whole[1] = 99.0
    assert turned[1, 0].item() == 99.0


def test_files_that_hold_more_than_values():
    with pytest.raises(
        UnsafeFileError, match=r"torch.nn.modules.container.Sequential.*save its state_dict\(\) instead"
    ):
        gs.load(DATA / "module.pt")
    with pytest.raises(CorruptFileError, match="the file is a bare pickle, and no checkpoint"):
        gs.load(io.BytesIO(pickle.dumps([1, 2, 3])))


def test_the_older_form():
    """Pickles one after the other, and the storages behind them."""
    found = gs.load(DATA / "older.pt")
    assert found["a"].tolist() == [0, 1, 2, 3, 4, 5] and found["t"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert found["half"].tolist() == [1.0, -2.5] and found["flags"].tolist() == [True, False] and found["n"].item() == 3
    found["a"][3] = 9.0
    assert found["t"][0, 1].item() == 9.0
    assert gs.load(DATA / "older.pt", map_location="meta")["t"].shape == (3, 2)


OLDER = (DATA / "older.pt").read_bytes()


@pytest.mark.parametrize(
    "data, message",
    [
        (OLDER[:-1], "has .* elements, not|ends too early"),
        (OLDER[:60], "ends too early"),
        (OLDER.replace(b"M\xe9\x03.", b"M\xea\x03."), "of version 1002, not 1001"),
        (OLDER.replace(b"K\x06N", b"K\x07N"), "shows element|elements, not"),
        (OLDER.replace(b"K\x06N", b"J\xff\xff\xff\x7fN"), "larger than the file"),
        (OLDER.replace(b"K\x06N", b"J\xff\xff\xff\xffN"), "without a dtype, a key or a size"),
        (OLDER.replace(b"K\x06N", b"K\x06K\x01"), "is a part of another one"),
    ],
)
def test_older_files_that_contradict_themselves(data, message):
    assert data != OLDER
    with pytest.raises(CorruptFileError, match=message):
        gs.load(io.BytesIO(data))


def test_truths_are_zero_or_one():
    files = [
        checkpoint(
            program(tensor((2,), (1,), of=storage(count=2, kind="BoolStorage"))), members={"data/0": b"\x02\xff"}
        ),
        io.BytesIO(
            b"\x93NUMPY\x01\x00\x40\x00{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}".ljust(74) + b"\x02\xff"
        ),
    ]
    for file in files:
        assert gs.load(file).numpy().view(np.uint8).tolist() == [1, 1]


def test_a_place_for_tensors():
    moved = gs.load(DATA / "checkpoint.pt", map_location="meta")
    assert moved["model"]["0.weight"].device.type == "meta" and moved["model"]["0.weight"].shape == (4, 3)
    for place in ("cpu", gs.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert gs.load(DATA / "checkpoint.pt", map_location=place, weights_only=True)["epoch"] == 3
    with pytest.raises(RuntimeError):
        gs.load(DATA / "checkpoint.pt", map_location="cuda")


# ---- pickles by hand


def test_plain_values():
    values = [None, True, 3, -(10**30), 2.5, "text", ("a", 1), [1, [2]]]
    assert load(values) == values
    for protocol in range(2, 6):
        kept = {
            "a": [1, 2.5, -3, 10**20],
            (1, "b"): b"bytes",
            "c": {"d": (True, None)},
            "e": bytearray(b"x"),
            "f": 1 + 2j,
        }
        kept |= {"set": {1, 2}, "frozen": frozenset("ab"), "range": range(3), "count": Counter("aab")}
        assert gs.load(checkpoint(pickle.dumps(kept, protocol))) == kept


def test_a_container_that_contains_itself():
    value = [1]
    value.append(value)
    found = gs.load(checkpoint(pickle.dumps(value, 2)))
    assert found[0] == 1 and found[1] is found


def test_tensors():
    assert load(tensor()).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert load(tensor((2,), (2,), 1)).tolist() == [1, 3]
    assert load(tensor((4,), (0,), 5)).tolist() == [5] * 4
    assert load(tensor((0, 3), (3, 1), 99)).shape == (0, 3)
    assert load(tensor((), (), 4)).item() == 4
    big = {"data/0": struct.pack(">6f", *range(6)), "byteorder": b"big"}
    assert load(tensor(), members=big).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "part, message",
    [
        (tensor((2, 4), (3, 1)), "shows element 6 of a storage of 6"),
        (tensor((2, 3), (3, 1), 1), "shows element 6"),
        (tensor((2,), (10**30,)), "shows element"),
        (tensor((2, 3), (3,)), "has size"),
        (tensor((2, -3), (3, 1)), "has size"),
        (tensor((2, 3), (-3, 1)), "has size"),
        (tensor((2, 3), (3, 1), -1), "has size"),
        (tensor((10**30,), (0,)), "corrupt"),
        (tensor((1,) * 65, (1,) * 65), "has size"),
        (tensor((2.0,), (1,)), "where a whole number should be"),
        (tensor((True,), (1,)), "where a whole number should be"),
        (tensor([2], (1,)), "has no storage, size or stride"),
        (tensor(of="text"), "has no storage"),
        (tensor(of=storage(count=5)), "has 24 bytes, not 20"),
        (tensor(of=storage(count=10**18)), "has 24 bytes"),
        (tensor(of=storage(count=-1)), "without a dtype, a key or a size"),
        (tensor(of=storage(key="1")), "has no member 'archive/data/1'"),
        (tensor(of=storage(key="../data.pkl")), "has no member"),
        (tensor(of=storage(kind="UntypedStorage", count=24)), "has no dtype"),
        (value_of(("storage", "FloatStorage", "0", "cpu", 6)) + CODES["BINPERSID"], "without a dtype"),
        (value_of("storage") + CODES["BINPERSID"], "refers to something that is no storage"),
        (called(name("torch._utils", "_rebuild_parameter"), 3), "a parameter in the checkpoint is no tensor"),
    ],
)
def test_tensors_that_show_what_is_not_there(part, message):
    with pytest.raises(CorruptFileError, match=message):
        load(part)


def harm(path):
    """What a hostile file would like to do."""
    Path(path).write_text("ran")


class Harmful:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return harm, (self.path,)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_is_called(tmp_path, protocol):
    target = tmp_path / "harm"
    with pytest.raises(UnsafeFileError, match="harm, which is not on the list"):
        gs.load(checkpoint(pickle.dumps({"a": [Harmful(target)]}, protocol)))
    with pytest.raises(UnsafeFileError):
        gs.load(checkpoint(pickle.dumps(Harmful(target), protocol)), weights_only=False)
    assert not target.exists()


@pytest.mark.parametrize(
    "function, arguments",
    [
        (("os", "system"), ("true",)),
        (("posix", "system"), ("true",)),
        (("builtins", "eval"), ("1",)),
        (("builtins", "getattr"), ("a", "upper")),
        (("builtins", "__import__"), ("os",)),
        (("builtins", "type"), (1,)),
        (("numpy", "load"), ("file",)),
        (("torch", "load"), ("file",)),
        (("gradsmith.serialization.files", "load"), ("file",)),
        (("collections", "OrderedDict.fromkeys"), ((1,),)),
        (("torch", "FloatStorage"), ()),
        (("torch", "float32"), ()),
        (("numpy", "dtype"), ("O",)),
        (("numpy", "dtype"), ("V8",)),
        (("numpy", "dtype"), (3,)),
        (("_codecs", "encode"), ("a", "rot13")),
        (("collections", "defaultdict"), (name("builtins", "frozenset"),)),
        (("torch._tensor", "_rebuild_from_type_v2"), (name("torch", "float32"), None, (), None)),
        (("torch._tensor", "_rebuild_from_type_v2"), ("text", None, (), None)),
    ],
)
def test_calls_that_are_refused(function, arguments):
    with pytest.raises(UnsafeFileError):
        load(called(name(*function), *arguments))


@pytest.mark.parametrize(
    "function, arguments",
    [
        (("builtins", "bytearray"), (10**12,)),
        (("builtins", "bytes"), (10**12,)),
        (("builtins", "list"), (called(name("builtins", "range"), 10**12),)),
        (("builtins", "set"), ("text",)),
        (("builtins", "dict"), ((1, 2),)),
        (("builtins", "dict"), (([], 2),)),
        (("builtins", "int"), ("1" * 5000,)),
        (("builtins", "range"), (1.5,)),
        (("builtins", "complex"), ("1", "2")),
        (("torch", "Size"), ((1.5,),)),
        (("torch", "device"), (3,)),
        (("numpy.core.multiarray", "scalar"), (called(name("numpy", "dtype"), "f8"), value_of("text"))),
        (("numpy.core.multiarray", "scalar"), (None, None)),
        (
            ("numpy._core.numeric", "_frombuffer"),
            (b"C\x08" + bytes(8), called(name("numpy", "dtype"), "f8"), (10**9,), "C"),
        ),
    ],
)
def test_arguments_that_are_refused(function, arguments):
    with pytest.raises((UnsafeFileError, CorruptFileError)):
        load(called(name(*function), *arguments))


@pytest.mark.parametrize(
    "parts",
    [
        [CODES["POP"]],
        [CODES["MARK"], CODES["POP"]],
        [CODES["TUPLE"]],
        [CODES["APPEND"]],
        [1, 2, CODES["APPEND"]],
        [CODES["EMPTY_TUPLE"], 1, CODES["APPEND"]],
        [CODES["MARK"], 1, CODES["DICT"]],
        [[], 1, CODES["SETITEM"]],
        [CODES["EMPTY_DICT"], [], 1, CODES["SETITEM"]],
        [CODES["EMPTY_SET"], CODES["MARK"], [], CODES["ADDITEMS"]],
        [CODES["BINGET"], b"\x07"],
        [CODES["BINUNICODE"] + struct.pack("<I", 2**31)],
        [CODES["BINUNICODE8"] + struct.pack("<Q", 2**63)],
        [CODES["BINBYTES8"] + struct.pack("<Q", 2**40)],
        [CODES["BYTEARRAY8"] + struct.pack("<Q", 2**40)],
        [CODES["LONG4"] + struct.pack("<i", -1)],
        [CODES["BINUNICODE"] + struct.pack("<I", 1) + b"\xff"],
        [CODES["GLOBAL"] + b"x" * 10_000],
        [1, 2, CODES["STACK_GLOBAL"]],
        [CODES["EMPTY_LIST"], CODES["EMPTY_DICT"], CODES["BUILD"]],
        [called(name("collections", "OrderedDict")), CODES["EMPTY_DICT"], "items", 1, CODES["SETITEM"], CODES["BUILD"]],
        [called(name("collections", "OrderedDict")), 1, CODES["BUILD"]],
        [name("builtins", "frozenset")],
        [(name("builtins", "frozenset"),)],
        [CODES["INST"] + b"os\nsystem\n"],
        [CODES["EXT1"] + b"\x01"],
        [CODES["NEXT_BUFFER"]],
        [b"\xff"],
        [CODES["PROTO"] + b"\x09"],
    ],
)  # fmt: skip
def test_programs_that_are_refused(parts):
    with pytest.raises((CorruptFileError, UnsafeFileError)):
        load(*parts)


def test_what_is_on_the_way_to_a_value_is_none():
    float64 = called(name("numpy", "dtype"), "f8")
    assert load([float64, (1, (float64,)), None]) == [gs.float64, (1, (gs.float64,)), None]
    assert load([(name("torch", "float32"), [name("torch", "int64")])]) == [(gs.float32, [gs.int64])]
    for part in (storage(), name("torch", "FloatStorage"), called(name("numpy.core.multiarray", "_reconstruct"), None)):
        for whole in (part, [part], (part,), ((part,),)):
            with pytest.raises(CorruptFileError, match="is not a value"):
                load(whole)


def test_large_numbers_in_the_memo_take_no_memory():
    assert load(1, CODES["LONG_BINPUT"] + struct.pack("<I", 2**32 - 1)) == 1


def test_keys_of_many_levels_are_refused():
    """Hashing them would overflow the stack of C, or take for ever."""
    deep = CODES["NONE"] + CODES["TUPLE1"] * 50_000
    for program_of_key in (
        [CODES["EMPTY_DICT"], deep, 1, CODES["SETITEM"]],
        [CODES["EMPTY_SET"], CODES["MARK"], deep, CODES["ADDITEMS"]],
        [CODES["MARK"], deep, CODES["FROZENSET"]],
        [called(name("builtins", "set"), [deep])],
    ):
        with pytest.raises(CorruptFileError, match="more than 100 levels"):
            load(*program_of_key)
    wide = CODES["MARK"] + value_of("x") * 200 + CODES["TUPLE"] + CODES["BINPUT"] + b"\x00" + CODES["POP"]
    wide += CODES["MARK"] + (CODES["BINGET"] + b"\x00") * 200 + CODES["TUPLE"]
    with pytest.raises(CorruptFileError, match="more than 10000 parts"):
        load(CODES["EMPTY_DICT"], wide, 1, CODES["SETITEM"])
    assert type(load(CODES["MARK"] * 30_000 + CODES["FROZENSET"] * 30_000)) is frozenset  # which know their hash


def test_archives_that_contradict_themselves(tmp_path):
    good = checkpoint(program(tensor())).getvalue()
    for spoiled in (good[:-10], good[:200], b"PK\x03\x04", b"PK" + bytes(30)):
        with pytest.raises(CorruptFileError):
            gs.load(io.BytesIO(spoiled))
    with pytest.raises(CorruptFileError, match="2 pickles"):
        gs.load(checkpoint(program(1), **{"more/data.pkl": program(1)}))
    with pytest.raises(UnsafeFileError, match="TorchScript"):
        gs.load(checkpoint(program(1), **{"code/module.py": b"pass"}))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", program(1))
        archive.writestr("archive/data/0", bytes(10**6))
    packed.seek(0)
    with pytest.raises(CorruptFileError, match="is packed"):
        gs.load(packed)


def test_members_that_overlap():
    """Many members in one place would unfold a small file into a large one."""
    file = checkpoint(program(tensor()), members={f"data/{i}": bytes(100) for i in range(3)})
    data = bytearray(file.getvalue())
    with zipfile.ZipFile(file) as archive:
        first = archive.getinfo("archive/data/0").header_offset
    place = data.find(b"PK\x01\x02")
    while place >= 0:
        if data[place + 46 :].startswith(b"archive/data/1"):
            data[place + 42 : place + 46] = struct.pack("<I", first)
        place = data.find(b"PK\x01\x02", place + 1)
    with pytest.raises(CorruptFileError, match="overlaps another one"):
        gs.load(io.BytesIO(bytes(data)))


# ---- what the user allows


class Settings:
    def __init__(self, rate=0):
        self.rate = rate

    def __reduce__(self):
        return Settings, (self.rate,)


def test_classes_that_the_user_allows():
    file = checkpoint(pickle.dumps({"settings": Settings(3)}, 2))
    with gs.serialization.safe_globals([Settings]):
        assert gs.load(file)["settings"].rate == 3
        assert gs.serialization.get_safe_globals() == [Settings]
    with pytest.raises(UnsafeFileError, match="Settings"):
        gs.load(file)
    gs.serialization.add_safe_globals([(dict, f"{__name__}.Settings")])
    with pytest.raises(CorruptFileError):
        gs.load(file)
    gs.serialization.clear_safe_globals()
    assert not gs.serialization.get_safe_globals()


# ---- random changes


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        kind, place = rng.randrange(4), rng.randrange(len(data))
        if kind == 0:
            data[place] = rng.randrange(256)
        elif kind == 1:
            del data[place : place + rng.randint(1, 8)]
        elif kind == 2:
            data[place:place] = bytes(rng.choice(list(CODES.values()))) * rng.randint(1, 3)
        else:
            data[place:place] = data[place : place + rng.randint(1, 30)]
    return bytes(data)


def load_or_refuse(file):
    try:
        return gs.load(file)
    except (CorruptFileError, UnsafeFileError) as error:
        return error


def test_random_pickles():
    rng = random.Random(0)
    with zipfile.ZipFile(DATA / "checkpoint.pt") as archive:
        original = archive.read("checkpoint/data.pkl")
        members = {n.removeprefix("checkpoint/"): archive.read(n) for n in archive.namelist() if "/data/" in n}
    with zipfile.ZipFile(DATA / "module.pt") as archive:
        pickles = [original, archive.read("module/data.pkl"), program([tensor(), [1, 2.5], "text", None])]
    outcomes = Counter()
    for _ in range(1500):
        outcome = load_or_refuse(checkpoint(mutated(rng.choice(pickles), rng), members=members))
        outcomes[type(outcome).__name__] += 1
    assert outcomes["CorruptFileError"] > 100 and outcomes["UnsafeFileError"] > 100


def test_random_archives():
    rng = random.Random(1)
    originals = [(DATA / name).read_bytes() for name in ("checkpoint.pt", "older.pt")]
    outcomes = Counter()
    for _ in range(1500):
        outcomes[type(load_or_refuse(io.BytesIO(mutated(rng.choice(originals), rng)))).__name__] += 1
    assert outcomes["CorruptFileError"] > 500 and outcomes["dict"] > 10
