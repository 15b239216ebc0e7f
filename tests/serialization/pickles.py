"""Checkpoints as PyTorch lays them out, with pickles that are assembled by hand."""

import io
import pickletools
import struct
import zipfile

CODES = {opcode.name: opcode.code.encode("latin-1") for opcode in pickletools.opcodes}


def text(value):
    data = value.encode()
    return CODES["BINUNICODE"] + struct.pack("<I", len(data)) + data


def name(module, attribute):
    return CODES["GLOBAL"] + f"{module}\n{attribute}\n".encode()


def value_of(value):
    """Instructions that put a plain value on the stack."""
    if isinstance(value, bytes):
        return value  # instructions already
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return CODES[{None: "NONE", True: "NEWTRUE", False: "NEWFALSE"}[value]]
    if isinstance(value, int):
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        return CODES["LONG4"] + struct.pack("<i", len(data)) + data
    if isinstance(value, float):
        return CODES["BINFLOAT"] + struct.pack(">d", value)
    items = b"".join(value_of(item) for item in value)
    return CODES["MARK"] + items + CODES["TUPLE" if isinstance(value, tuple) else "LIST"]


def called(function, *arguments):
    return value_of(function) + value_of(tuple(arguments)) + CODES["REDUCE"]


def storage(key="0", count=6, kind="FloatStorage"):
    return value_of(("storage", name("torch", kind), key, "cpu", count)) + CODES["BINPERSID"]


def tensor(size=(2, 3), stride=(3, 1), offset=0, of=None, function="_rebuild_tensor_v2"):
    of = storage() if of is None else of
    return called(
        name("torch._utils", function), of, offset, size, stride, False, called(name("collections", "OrderedDict"))
    )


def program(*parts):
    return CODES["PROTO"] + b"\x02" + b"".join(map(value_of, parts)) + CODES["STOP"]


def checkpoint(pickle, members=None, root="archive/", **more):
    """A file with a pickle and with the elements of storages."""
    members = {"data/0": struct.pack("<6f", *range(6))} if members is None else members
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member, data in {"data.pkl": pickle, "version": b"3\n", **members, **more}.items():
            archive.writestr(root + member, data)
    file.seek(0)
    return file
