"""Keys of an entry that state the author's decisions and notes, apart from the computation."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Interval, Point, Policy, Preparation
from ..spec.errors import Collector, Position, Problem, hint_from
from ..spec.schema import Argument, Signature
from ..spec.syntax import parse_python
from ..spec.vocabulary import NUMBER_NAMES, PREPARATIONS, REFERENCE_NAMES
from .call_text import CallArgument, parse_call
from .python_text import verify_names
from .reader import RawEntry, RawText, expect_truth

GRADIENT = "gradient"  # of a point: what the gradients are there
_DICT = "dict("
_REAL_TYPES = ("Tensor", "Scalar", "float")
_BOUNDS = {"inf": math.inf, "pi": math.pi}


@dataclass(frozen=True)
class PolicyReader:
    """Checks the keys of one entry."""

    entry: RawEntry
    signature: Signature
    errors: Collector

    def policy(self) -> Policy:
        return Policy(
            subgradient=self.text("subgradient"),
            points=tuple(map(self.point, self.entry.points)),
            domain=self.domain(),
            latex=self.latex(),
            reference=self.expression("reference"),
            surrogate=self.surrogate(),
            cancellation=self.cancellation(),
            resets_accumulator=self.resets_accumulator(),
            out_of_place=self.out_of_place(),
            depends_on_layout=self.flag("depends_on_layout"),
            stops_gradient=self.flag("stops_gradient"),
            takes_numbers=self.takes_numbers(),
            takes_inplace=self.flag_of_form("takes_inplace", "inplace"),
            assignable=self.flag_of_form("assignable", "property"),
            prepare=tuple(self.preparations()),
        )

    def error(self, position: Position, problem: str, hint: str = "") -> None:
        self.errors.add(position, self.signature.base, problem, hint)

    def text(self, key: str) -> str:
        return self.entry.expect_text(key) or ""

    # -- points

    def point(self, raw: RawText) -> Point:
        names = tuple(a.name for a in self.signature.arguments)
        try:
            given = parse_call(raw, names)
            gradient = self.gradient(raw, given)
        except Problem as problem:
            self.error(raw.position_of(problem.offset), f"point {problem.problem}", problem.hint)
            return Point((), ())
        arguments = tuple(argument for argument in given if argument.name != GRADIENT)
        self.verify_arguments(arguments)
        known = {argument.name for argument in arguments}
        missing = [a.name for a in self.signature.arguments if a.default is None and a.name not in known]
        if missing and known <= set(names):
            self.error(raw.position, f"point has no value for '{missing[0]}'")
        self.verify_gradient(gradient)
        return Point(_texts(arguments), _texts(gradient))

    def gradient(self, raw: RawText, given: tuple[CallArgument, ...]) -> tuple[CallArgument, ...]:
        """``gradient=`` of a point: that of the first argument, or ``dict(self=..., other=...)``."""
        found = [argument for argument in given if argument.name == GRADIENT]
        if not found:
            self.error(raw.position, "point has no 'gradient'", "Write self=0.0, gradient=0.5.")
            return ()
        value = found[0].value
        if not value.text.startswith(_DICT):
            return (CallArgument(self.signature.arguments[0].name, found[0].position, value),)
        inside = RawText(value.text[len(_DICT) : -1], value.position_of(len(_DICT)), value.text[len(_DICT) : -1])
        return parse_call(inside, ())

    def verify_arguments(self, arguments: tuple[CallArgument, ...]) -> None:
        names = [a.name for a in self.signature.arguments]
        for argument in arguments:
            if argument.name not in names:
                hint = hint_from("Arguments", argument.name, [*names, GRADIENT])
                self.error(argument.position, f"point for '{argument.name}', which is no argument", hint)
            self.verify_numbers(argument.value, f"point for '{argument.name}'")

    def verify_gradient(self, gradient: tuple[CallArgument, ...]) -> None:
        inputs = [a.name for a in self.signature.tensor_arguments]
        for argument in gradient:
            if argument.name not in inputs:
                hint = hint_from("Inputs", argument.name, inputs)
                problem = f"point has a gradient of '{argument.name}', which is no input"
                self.error(argument.position, problem, hint)
            self.verify_numbers(argument.value, f"gradient of '{argument.name}' at a point")

    def verify_numbers(self, value: RawText, subject: str) -> None:
        verify_names(self.errors, self.signature.base, value, subject, NUMBER_NAMES)

    # -- domain

    def domain(self) -> tuple[tuple[str, Interval], ...]:
        found = [(key.text, self.interval(key, text)) for key, text in self.entry.pairs.get("domain", ())]
        return tuple((name, interval) for name, interval in found if interval is not None)

    def interval(self, key: RawText, text: RawText) -> Interval | None:
        argument = self.signature.expect_argument(key.text)
        if argument is None:
            hint = hint_from("Arguments", key.text, [a.name for a in self.signature.arguments])
            self.error(key.position, f"domain of '{key.text}', which is no argument", hint)
        elif not _is_real(argument):
            problem = f"domain of '{key.text}', which is {argument.type}: only real numbers have an interval"
            self.error(key.position, problem)
        interval = expect_interval(text.text)
        if interval is None:
            hint = "Write [0, 1], (0, inf), [-pi, pi): a square bracket includes its bound."
            self.error(text.position, f"domain of '{key.text}' is '{text.text}', which is no interval", hint)
        return interval

    # -- prepared arguments

    def preparations(self) -> Iterator[Preparation]:
        for key, text in self.entry.pairs.get("prepare", ()):
            found = self.preparation(key, text)
            if found is not None:
                yield found

    def preparation(self, key: RawText, text: RawText) -> Preparation | None:
        call = _expect_plain_call(text.text)
        if call is None:
            self.error(text.position, f"prepare: '{text.text}' is no call", "Write {self: numeric(self)}.")
            return None
        function, arguments = call
        names = [a.name for a in self.signature.arguments]
        for name in (key.text, *arguments):
            if name not in names:
                position = key.position if name == key.text else text.position
                self.error(position, f"prepare: '{name}' is no argument", hint_from("Arguments", name, names))
        expected = PREPARATIONS.get(function)
        if expected is None:
            hint = hint_from("Functions", function, list(PREPARATIONS))
            self.error(text.position, f"prepare: there is no function '{function}'", hint)
        elif len(arguments) not in expected:
            counts = " or ".join(map(str, expected))
            self.error(text.position, f"prepare: {function} takes {counts} arguments, not {len(arguments)}")
        return Preparation(key.text, function, arguments)

    # -- the rest

    def latex(self) -> str:
        text = self.text("latex")
        position = self.entry.texts["latex"].position if text else self.entry.position
        if "$" in text:
            self.error(position, "latex has '$'", "Write the formula alone; who shows it adds what is around it.")
        if not _is_balanced(text):
            self.error(position, f"latex '{text}' has braces that do not match")
        return text

    def expression(self, key: str) -> str:
        """A Python text over the arguments."""
        raw = self.entry.texts.get(key)
        if raw is None:
            return ""
        names = {a.name for a in self.signature.arguments} | REFERENCE_NAMES
        verify_names(self.errors, self.signature.base, raw, key, names, self.signature.generators)
        return raw.text

    def surrogate(self) -> str:
        self.verify_differentiable("surrogate", "Write the formula of the gradient that the surrogate has.")
        if "surrogate" in self.entry.texts and self.flag("stops_gradient"):
            hint = "An op that stops the gradient has none, not that of something else."
            self.error(self.entry.texts["surrogate"].position, "surrogate beside stops_gradient", hint)
        return self.expression("surrogate")

    def cancellation(self) -> str:
        self.verify_differentiable("cancellation", "It says why float32 loses digits in a gradient.")
        return self.text("cancellation")

    def verify_differentiable(self, key: str, hint: str) -> None:
        """Keys about gradients are for entries that have some."""
        if key in self.entry.texts and "nondifferentiable" in self.entry.texts:
            self.error(self.entry.texts[key].position, f"{key}, but no input has a gradient", hint)

    def flag(self, key: str) -> bool:
        raw = self.entry.texts.get(key)
        return raw is not None and bool(expect_truth(raw, key, self.signature.base, self.errors))

    def takes_numbers(self) -> bool:
        takes = self.flag("takes_numbers")
        operands = self.signature.arguments[:2]
        if takes and not (len(operands) == 2 and operands[0].type.is_tensor and operands[1].type.union_scalar):
            hint = "The first two arguments are a tensor, which may be a number too, and a Tensor|Scalar."
            position = self.entry.texts["takes_numbers"].position
            self.error(position, "takes_numbers, but the op has no two operands", hint)
        return takes

    def flag_of_form(self, key: str, form: str) -> bool:
        """A flag about one of the variants, which has to be there."""
        is_set = self.flag(key)
        if is_set and not any(text.text == form for text in self.entry.lists.get("variants", ())):
            problem = f"{key}, but its variants have no '{form}'"
            self.error(self.entry.texts[key].position, problem, f"Add '{form}' to its variants.")
        return is_set

    def resets_accumulator(self) -> bool:
        resets = self.flag("resets_accumulator")
        if resets and not any(a.type.written for a in self.signature.arguments):
            hint = "Only an op that changes its argument, Tensor(a!), can make it forget its accumulator."
            position = self.entry.texts["resets_accumulator"].position
            self.error(position, "resets_accumulator, but the op changes no argument", hint)
        elif resets and (self.entry.expect_text("forward") or "").startswith("composite("):
            hint = "Say it of the op that does, one that the forward calls."
            self.error(
                self.entry.texts["resets_accumulator"].position,
                "resets_accumulator, but a composite op writes nothing itself",
                hint,
            )
        return resets

    def out_of_place(self) -> str:
        raw = self.entry.texts.get("out_of_place")
        if raw is None:
            return ""
        if any(text.text in ("inplace", "all") for text in self.entry.lists.get("variants", ())):
            self.error(raw.position, "out_of_place, but its variants have 'inplace'", "Take one of them away.")
        elif any(a.type.written for a in self.signature.arguments):
            self.error(raw.position, "out_of_place, but the op itself changes its argument")
        return raw.text


def _expect_plain_call(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Function and arguments of ``numeric(self, other)``; None when it is anything else."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or call.keywords or not isinstance(call.func, ast.Name):
        return None
    arguments = tuple(argument.id for argument in call.args if isinstance(argument, ast.Name))
    return (call.func.id, arguments) if len(arguments) == len(call.args) else None


def expect_interval(text: str) -> Interval | None:
    """``[0, inf)``; None when the text is no interval."""
    text = text.strip()
    if text[:1] not in ("(", "[") or text[-1:] not in (")", "]"):
        return None
    bounds = [_expect_bound(part.strip()) for part in text[1:-1].split(",")]
    if len(bounds) != 2 or bounds[0] is None or bounds[1] is None or not bounds[0] <= bounds[1]:
        return None
    return Interval(bounds[0], bounds[1], text[0] == "[", text[-1] == "]")


def _expect_bound(text: str) -> float | None:
    try:
        return _value(parse_python(text))
    except (Problem, OverflowError):
        return None


def _value(node: ast.expr) -> float | None:
    """A number, ``inf``, ``pi``, a fraction or the negative of one."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            return _BOUNDS.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _value(operand)
            return None if value is None else -value
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            above, below = _value(left), _value(right)
            return above / below if above is not None and below else None
    return None


def _is_real(argument: Argument) -> bool:
    return argument.type.name in _REAL_TYPES and not argument.type.is_list


def _is_balanced(text: str) -> bool:
    depth = 0
    for at, character in enumerate(text):
        if character in "{}" and text[at - 1 : at] != "\\":
            depth += 1 if character == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _texts(arguments: tuple[CallArgument, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((argument.name, argument.value.text) for argument in arguments)
