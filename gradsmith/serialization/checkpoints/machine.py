"""An interpreter of pickles that makes plain values, and calls only what it is told to.

Note [Pickles as programs]
A pickle is a program for a machine with a stack. Python's own machine imports and calls whatever the program names.
This one has the same instructions, but a global name is looked up in a list (allowed.py), what is called is a function
from that list, which checks its arguments, and no attribute is set on anything. The memo is a dict, so that large
numbers in the program take no memory. Containers may contain themselves, as in Python.

Source: the comments of Python's module pickletools, which describe each instruction.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError

Handler = Callable[["Machine"], None]

DEEPEST_TUPLE = 100
MOST_PARTS = 10_000  # of a key of a dict, or of an element of a set
LONGEST_LINE = 500  # characters of a name in the old form

_handlers: dict[int, Handler] = {}


def _on(*codes: bytes) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for code in codes:
            _handlers[code[0]] = handler
        return handler

    return register


class Marked:
    """A name from the list: `call` makes its values, `value` is what it stands for when it is not called.

    With `takes_names` the function gets names as they are, to call them.
    """

    def __init__(
        self, name: str, call: Callable[..., Any] | None = None, value: Any = None, takes_names: bool = False
    ) -> None:
        self.name, self.call, self.value, self.takes_names = name, call, value, takes_names


class Machine:
    """Runs one pickle.

    Parameters
    ----------
    program : bytes
    find : callable
        From a module and a name to what they stand for, most often a `Marked`.
    persistent : callable
        From the description of what is kept elsewhere, such as the elements of a tensor, to the value.
    place : int, default 0
        Where the pickle begins; when it has run, where it ended.
    """

    def __init__(
        self, program: bytes, find: Callable[[str, str], Any], persistent: Callable[[Any], Any], place: int = 0
    ) -> None:
        self.program, self.place = program, place
        self.find, self.persistent = find, persistent
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        while True:
            code = self.take(1)[0]
            if code == STOP:
                return as_value(self.pop())
            handler = _handlers.get(code)
            if handler is None:
                raise UnsafeFileError(
                    f"load: the checkpoint uses the instruction {code:#04x} of pickles, which it may not"
                )
            handler(self)

    # ---- reading

    def take(self, count: int) -> bytes:
        end = self.place + count
        if count < 0 or end > len(self.program):
            raise CorruptFileError("load: the pickle of the checkpoint ends too early")
        found = self.program[self.place : end]
        self.place = end
        return found

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        end = self.program.find(b"\n", self.place, self.place + LONGEST_LINE)
        if end < 0:
            raise CorruptFileError("load: a name in the pickle of the checkpoint has no end")
        return self.take(end + 1 - self.place)[:-1].decode("utf-8")

    # ---- the stack

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise CorruptFileError("load: the pickle of the checkpoint takes more from its stack than it has put there")
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        start = self.marks.pop()
        found = self.stack[start:]
        del self.stack[start:]
        return found

    def top(self, kind: type | tuple[type, ...]) -> Any:
        value = self.stack[-1]
        if len(self.stack) <= (self.marks[-1] if self.marks else 0) or not isinstance(value, kind):
            raise CorruptFileError(f"load: the pickle of the checkpoint fills a {type(value).__name__}")
        return value


class Intermediate:
    """What is put on the stack on the way to a value, such as the elements of a tensor."""

    def build(self, state: Any) -> Any:
        """The same with its state."""
        raise UnsafeFileError(f"load: the checkpoint sets the state of a {type(self).__name__}, which it may not")

    def value(self) -> Any:
        """What it stands for as a part of something."""
        raise CorruptFileError(f"load: the checkpoint contains a {type(self).__name__}, which is not a value")


def revealed(value: Any) -> Any:
    """What a name stands for, as an argument of a function."""
    if isinstance(value, Marked):
        if value.value is None:
            raise UnsafeFileError(f"load: the checkpoint contains {value.name} itself, which is not a value")
        return value.value
    return value


def as_value(value: Any) -> Any:
    """Something from the stack as a part of a container, or as the whole."""
    return _settled(value, {}, 0) if type(value) is tuple else _settled_one(value)


def _settled_one(value: Any) -> Any:
    found = revealed(value)
    return found.value() if isinstance(found, Intermediate) else found


def _settled(value: Any, seen: dict[int, Any], level: int) -> Any:
    """A tuple whose parts are values; the same one if they are already. Each is looked at once."""
    if type(value) is not tuple:
        return _settled_one(value)
    if id(value) not in seen:
        if level > DEEPEST_TUPLE:
            raise CorruptFileError(f"load: a tuple in the checkpoint has more than {DEEPEST_TUPLE} levels")
        parts = tuple([_settled(part, seen, level + 1) for part in value])
        seen[id(value)] = value if all(a is b for a, b in zip(parts, value)) else parts
    return seen[id(value)]


def as_key(value: Any) -> Any:
    """A value that may be a key: hashing a tuple goes through all its parts, as often and as deep as they are there."""
    found = as_value(value)
    pending, count = [found], 0
    while pending:
        part = pending.pop()
        count += 1
        if count > MOST_PARTS:
            raise CorruptFileError(f"load: a key of a dict in the checkpoint has more than {MOST_PARTS} parts")
        if type(part) is tuple:
            pending += part
    return found


# ---- the instructions

STOP = b"."[0]


@_on(b"\x80")
def _protocol(m: Machine) -> None:
    if m.take(1)[0] > 5:
        raise CorruptFileError("load: the pickle of the checkpoint is of an unknown protocol")


@_on(b"\x95")
def _frame(m: Machine) -> None:
    m.take(8)


@_on(b"(")
def _mark(m: Machine) -> None:
    m.marks.append(len(m.stack))


@_on(b"0")
def _pop(m: Machine) -> None:
    m.pop()


@_on(b"1")
def _pop_mark(m: Machine) -> None:
    m.pop_to_mark()


@_on(b"2")
def _duplicate(m: Machine) -> None:
    value = m.pop()
    m.stack += [value, value]


@_on(b"N")
def _none(m: Machine) -> None:
    m.push(None)


@_on(b"\x88", b"\x89")
def _truth(m: Machine) -> None:
    m.push(m.program[m.place - 1] == 0x88)


@_on(b"J")
def _int32(m: Machine) -> None:
    m.push(m.number("<i"))


@_on(b"K")
def _uint8(m: Machine) -> None:
    m.push(m.number("<B"))


@_on(b"M")
def _uint16(m: Machine) -> None:
    m.push(m.number("<H"))


@_on(b"\x8a")
def _long(m: Machine) -> None:
    m.push(int.from_bytes(m.take(m.number("<B")), "little", signed=True))


@_on(b"\x8b")
def _longer(m: Machine) -> None:
    m.push(int.from_bytes(m.take(m.number("<i")), "little", signed=True))


@_on(b"G")
def _float(m: Machine) -> None:
    m.push(m.number(">d"))


@_on(b"X")
def _text(m: Machine) -> None:
    m.push(m.take(m.number("<I")).decode("utf-8", "surrogatepass"))


@_on(b"\x8c")
def _short_text(m: Machine) -> None:
    m.push(m.take(m.number("<B")).decode("utf-8", "surrogatepass"))


@_on(b"\x8d")
def _long_text(m: Machine) -> None:
    m.push(m.take(m.number("<Q")).decode("utf-8", "surrogatepass"))


@_on(b"U")
def _short_string(m: Machine) -> None:
    m.push(m.take(m.number("<B")).decode("latin-1"))


@_on(b"T")
def _string(m: Machine) -> None:
    m.push(m.take(m.number("<i")).decode("latin-1"))


@_on(b"C")
def _short_bytes(m: Machine) -> None:
    m.push(m.take(m.number("<B")))


@_on(b"B")
def _bytes(m: Machine) -> None:
    m.push(m.take(m.number("<I")))


@_on(b"\x8e")
def _long_bytes(m: Machine) -> None:
    m.push(m.take(m.number("<Q")))


@_on(b"\x96")
def _bytearray(m: Machine) -> None:
    m.push(bytearray(m.take(m.number("<Q"))))


@_on(b"]")
def _empty_list(m: Machine) -> None:
    m.push([])


@_on(b"}")
def _empty_dict(m: Machine) -> None:
    m.push({})


@_on(b")")
def _empty_tuple(m: Machine) -> None:
    m.push(())


@_on(b"\x8f")
def _empty_set(m: Machine) -> None:
    m.push(set())


@_on(b"t")
def _tuple(m: Machine) -> None:
    m.push(tuple(m.pop_to_mark()))


@_on(b"\x85", b"\x86", b"\x87")
def _short_tuple(m: Machine) -> None:
    count = m.program[m.place - 1] - 0x84
    m.push(tuple([m.pop() for _ in range(count)][::-1]))


@_on(b"l")
def _list(m: Machine) -> None:
    m.push([as_value(item) for item in m.pop_to_mark()])


@_on(b"d")
def _dict(m: Machine) -> None:
    items = m.pop_to_mark()
    m.push(_filled({}, items))


@_on(b"\x91")
def _frozenset(m: Machine) -> None:
    m.push(frozenset(as_key(item) for item in m.pop_to_mark()))


@_on(b"a")
def _append(m: Machine) -> None:
    value = as_value(m.pop())
    m.top(list).append(value)


@_on(b"e")
def _extend(m: Machine) -> None:
    values = [as_value(item) for item in m.pop_to_mark()]
    m.top(list).extend(values)


@_on(b"s")
def _set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    _filled(m.top(dict), [key, value])


@_on(b"u")
def _set_items(m: Machine) -> None:
    items = m.pop_to_mark()
    _filled(m.top(dict), items)


def _filled(target: dict[Any, Any], items: list[Any]) -> dict[Any, Any]:
    if len(items) % 2:
        raise CorruptFileError("load: a dict in the checkpoint has a key without a value")
    for key, value in zip(items[::2], items[1::2]):
        target[as_key(key)] = as_value(value)
    return target


@_on(b"\x90")
def _add_items(m: Machine) -> None:
    items = [as_key(item) for item in m.pop_to_mark()]
    m.top(set).update(items)


@_on(b"h")
def _get(m: Machine) -> None:
    m.push(m.memo[m.number("<B")])


@_on(b"j")
def _long_get(m: Machine) -> None:
    m.push(m.memo[m.number("<I")])


@_on(b"q")
def _put(m: Machine) -> None:
    m.memo[m.number("<B")] = m.top(object)


@_on(b"r")
def _long_put(m: Machine) -> None:
    m.memo[m.number("<I")] = m.top(object)


@_on(b"\x94")
def _memoize(m: Machine) -> None:
    m.memo[len(m.memo)] = m.top(object)


@_on(b"c")
def _global(m: Machine) -> None:
    module = m.line()
    m.push(m.find(module, m.line()))


@_on(b"\x93")
def _stack_global(m: Machine) -> None:
    name, module = m.pop(), m.pop()
    if not (isinstance(name, str) and isinstance(module, str)):
        raise CorruptFileError("load: the checkpoint has a name that is no text")
    m.push(m.find(module, name))


@_on(b"R", b"\x81")
def _call(m: Machine) -> None:
    """Of a function or of a class, whose instances are made by the functions of the list too."""
    arguments, function = m.pop(), m.pop()
    if not isinstance(function, Marked) or function.call is None or type(arguments) is not tuple:
        name = function.name if isinstance(function, Marked) else type(function).__name__
        raise UnsafeFileError(f"load: the checkpoint calls {name}, which it may not")
    m.push(function.call(*(arguments if function.takes_names else map(revealed, arguments))))


@_on(b"b")
def _build(m: Machine) -> None:
    """Set the state of a value, which only some kinds of values have."""
    state = m.pop()
    value = m.top(object)
    if type(value) is OrderedDict and type(state) is dict and set(state) <= {"_metadata"}:
        vars(value).update(state)  # of a module's state_dict()
    elif isinstance(value, Intermediate):
        m.stack[-1] = value.build(state)
    else:
        raise UnsafeFileError(f"load: the checkpoint sets the state of a {type(value).__name__}, which it may not")


@_on(b"Q")
def _persistent(m: Machine) -> None:
    m.push(m.persistent(m.pop()))
