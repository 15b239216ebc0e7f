"""Files of programs, damaged: bytes that are others, and JSON of another structure."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

PROGRAM = "program.json"
JUNK: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31, 2**40, 2**62, 2**63, 2**64, -(2**63), 10**30, 0.0, -0.5, 1e300,
    "", "x", "sum", "float32", "int64", "cpu", "nan", "0", [], [0], [[]], [None], [-1, 0],
    {}, {"value": 0}, {"value": 10**6}, {"list": []},
    {"float": "nan"}, {"slice": [None, None, None]}, {"slice": [0, 5, 0]}, {"ellipsis": True}, {"dtype": "float64"},
    {"dtype": "object"}, {"device": "meta"}, {"table": [[0, 1]]}, {"table": [5]}, {"complex": [0.0, 1.0]},
    {"tuple": [None]},
]  # fmt: skip


def parts_of(data: bytes) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    file.seek(0)
    return file


def with_program(data: bytes, change: Callable[[Any], Any]) -> io.BytesIO:
    """The file with other JSON: what `change` gives, or the node that it has changed."""
    parts = parts_of(data)
    node = json.loads(parts[PROGRAM])
    found = change(node)
    parts[PROGRAM] = json.dumps(node if found is None else found).encode()
    return archive_of(parts)


def with_other_bytes(data: bytes, rng: random.Random) -> io.BytesIO:
    """A few bytes are others, missing or there twice."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(len(found))
        match rng.randrange(4):
            case 0:
                found[place] ^= 1 << rng.randrange(8)
            case 1:
                found[place] = rng.randrange(256)
            case 2:
                del found[place : place + rng.choice([1, 4, 100])]
            case _:
                found[place:place] = found[place : place + rng.choice([1, 4, 100])]
        if not found:
            break
    return io.BytesIO(bytes(found))


def with_other_arrays(data: bytes, rng: random.Random) -> io.BytesIO:
    """An array is changed, in an archive that is whole."""
    parts = parts_of(data)
    names = [name for name in parts if name != PROGRAM]
    if names:
        name = rng.choice(names)
        parts[name] = with_other_bytes(parts[name], rng).getvalue()
    return archive_of(parts)


def with_other_structure(data: bytes, rng: random.Random) -> io.BytesIO:
    """Nodes of the JSON are others, missing, there twice, or elsewhere."""

    def change(node: Any) -> None:
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            _change_one(_holders(node), rng)

    return with_program(data, change)


def _holders(node: Any) -> list[Any]:
    """Lists and objects that are not empty."""
    found, left = [], [node]
    while left:
        one = left.pop()
        if isinstance(one, (dict, list)) and one:
            found.append(one)
            left += one.values() if isinstance(one, dict) else one
    return found


def _change_one(holders: list[Any], rng: random.Random) -> None:
    holder = rng.choice(holders)
    key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    other = rng.choice(holders)
    match rng.randrange(7):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case 2:
            holder[key] = json.loads(json.dumps(other if rng.randrange(2) else rng.choice(_values(other))))
        case 3 if isinstance(holder[key], int):
            holder[key] += rng.choice([-2, -1, 1, 2])
        case 4 if isinstance(holder, list):
            place = rng.randrange(len(holder))
            holder[key], holder[place] = holder[place], holder[key]
        case _:
            holder[key] = rng.choice(JUNK)


def _values(holder: Any) -> list[Any]:
    return list(holder.values()) if isinstance(holder, dict) else holder
