"""Formulas that an entry leaves out: derivatives of pointwise forwards.

The derivative of each step comes from the table: that of ``exp(x)`` from exp's own formula ``grad * conj(result)``,
with one for `grad` and the step itself for `result`. So whatever a formula says of ties and kinks carries over, and an
op that somebody adds can be derived through at once. Steps are put together from the inside out (the tangent of a step
is the sum over its arguments of their tangents times the step's own derivative), since then a choice stays outside of
its branches. The result is text, as if the author had written it, and is resolved for each variant like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..algebra.simplify import choice, conjugate, factored, powers, product, replaced, total, with_logistic
from ..algebra.symbolic import ONE, ZERO, Number, Operation, Symbolic, Variable, formula_text
from ..algebra.symbolize import REAL_IDENTITIES, NotSymbolic, Symbolizer, shared_name
from ..check.context import Context
from ..entries.declaration import Declaration, DerivedText, RawFormula
from ..formula.callees import INTRINSIC
from ..formula.formula import Call, Conditional, Expr, Gradient, Name, Operator
from ..formula.substitute import substituted
from ..model import Table
from ..resolve.operators import BINARY_OPERATORS
from ..spec.errors import Collector, Consequence
from ..spec.syntax import parse
from .rules import EntryRules, LibraryRules, NoRule, Rules

GRADIENT = Variable("grad")
LOGISTIC = "sigmoid"


class NoDerivative(Exception):
    """A step of a forward that cannot be differentiated.

    `step` is the function or operator; `hint` what to do besides writing the formula by hand.
    """

    def __init__(self, step: str, reason: str, hint: str = "") -> None:
        self.step = step
        self.reason = reason
        self.hint = hint
        super().__init__(reason)


@dataclass(frozen=True)
class Dual:
    """A value and its derivative with respect to one input; None when it does not depend on the input."""

    value: Symbolic
    tangent: Symbolic | None


@dataclass
class Deriver:
    """Derives formulas of the entries of one table."""

    declarations: list[Declaration]
    context: Context
    library: Table | None = None  # that an external table may call
    _rules: dict[str, Rules] = field(init=False)  # by C entry
    _quiet: Context = field(init=False)  # errors of other entries are reported when these are built

    def __post_init__(self) -> None:
        self._quiet = replace(self.context, errors=Collector(self.context.errors.file), told=set())
        ops = self.library.ops if self.library else ()
        self._rules = {variant.c_entry: LibraryRules(op, variant) for op in ops for variant in op.variants}
        for declaration in self.declarations:
            for i, c_entry in enumerate(declaration.c_entries):
                self._rules[c_entry] = EntryRules(declaration, i, self._quiet)

    def completed(self, declaration: Declaration) -> Declaration:
        """The declaration with formulas for the inputs that have none."""
        if not declaration.without_formula:
            return declaration
        try:
            forward = EntryRules(declaration, 0, self._quiet).forward()
        except Consequence:
            return declaration
        alternatives = [self._alternatives(declaration, forward, name) for name in declaration.without_formula]
        if not all(alternatives):
            return declaration
        completed = _with_formulas(declaration, alternatives, squares=self._can_write("square"))
        return declaration if self._has_shared_names(declaration, completed) else completed

    def _can_write(self, function: str) -> bool:
        callees = self.context.callees
        return bool(callees.named(function)) and not callees.is_shared(function)

    def _has_shared_names(self, declaration: Declaration, completed: Declaration) -> bool:
        """Report a derived formula that would call an external op where it means one of the library."""
        for formula in completed.formulas:
            texts = (formula.text, *formula.others)
            shared = sorted(filter(self.context.callees.is_shared, {word for t in texts for word in _words(t.text)}))
            if formula.is_derived and shared:
                self._report(declaration, formula.inputs[0], NoDerivative("", f"it {shared_name(shared[0])}"))
                return True
        return False

    def _alternatives(self, declaration: Declaration, forward: Expr, name: str) -> list[Symbolic]:
        """The formula as it comes out, and with the result for what is the result; empty after an error."""
        try:
            derivative = self.derivative(declaration, forward, name)
            value = Symbolizer(self.context.callees, only_real=not declaration.supports_complex).read(forward)
        except Consequence:
            return []
        except NoDerivative as problem:
            self._report(declaration, name, problem)
            return []
        except NotSymbolic as problem:
            self._report(declaration, name, NoDerivative("", f"it {problem}"))
            return []
        if derivative is None:
            self._report_independent(declaration, name)
            return []
        shorter = replaced(derivative, value, Variable("result"))
        return [_formula(tree, declaration) for tree in dict.fromkeys((derivative, shorter))]

    def expect_formula(self, declaration: Declaration, forward: Expr, name: str) -> Symbolic | None:
        """The formula as it would be derived, to compare a written one with; None where it cannot be."""
        try:
            derivative = self.derivative(declaration, forward, name)
        except (NoDerivative, NotSymbolic, Consequence):
            return None
        return _formula(derivative if derivative is not None else ZERO, declaration)

    def derivative(self, declaration: Declaration, forward: Expr, name: str) -> Symbolic | None:
        """Derivative of a forward with respect to an input; None when it is zero everywhere."""
        only_real = not declaration.supports_complex
        scope = {
            argument.name: Dual(Variable(argument.name), ONE if argument.name == name else None)
            for argument in declaration.signature.arguments
        }
        tangent = _Walk(self, scope, only_real).dual(forward).tangent
        has_logistic = tangent is not None and self._can_write(LOGISTIC)
        return with_logistic(tangent, LOGISTIC) if tangent is not None and has_logistic else tangent

    # -- one step

    def step(self, c_entry: str, arguments: tuple[Dual, ...], value: Symbolic, only_real: bool) -> Symbolic | None:
        """Tangent of a step, from what its entry says; None when it does not depend on the input."""
        rules = self._rules[c_entry]
        if rules.is_constant or all(argument.tangent is None for argument in arguments):
            return None
        try:
            if all(rules.is_left_out(name) for name in rules.arguments):
                return self._inlined(rules, arguments, only_real)
            step = _Step(self, rules, arguments, value, only_real)
            tangent = factored(total(step.terms(), derivative=True))
        except NoRule:
            raise NoDerivative(rules.base, f"{rules.base} has no formula that could be read") from None
        return None if tangent == ZERO else tangent

    def _inlined(self, rules: Rules, arguments: tuple[Dual, ...], only_real: bool) -> Symbolic | None:
        """An op without formulas takes its derivative from its parts."""
        try:
            scope = dict(zip(rules.arguments, arguments, strict=True))
            return _Walk(self, scope, only_real).dual(rules.forward()).tangent
        except NoDerivative as problem:
            raise NoDerivative(rules.base, f"in {rules.base}, {problem.reason}", problem.hint) from None

    def has_entry(self, c_entry: str) -> bool:
        return c_entry in self._rules

    def rules_of(self, c_entry: str) -> Rules:
        return self._rules[c_entry]

    # -- errors

    def _report(self, declaration: Declaration, name: str, problem: NoDerivative) -> None:
        raw = declaration.forward
        assert raw is not None
        problem_text = f"no formula for input '{name}', and none can be derived: {problem.reason}"
        hint = f"{problem.hint}Write the formula by hand: '{name}: ...'."
        offset = raw.start + _offset_of(problem.step, raw.text)
        self.context.error(raw.raw, offset, declaration.base, problem_text, hint)

    def _report_independent(self, declaration: Declaration, name: str) -> None:
        problem = f"no formula for input '{name}', and its derivative is zero everywhere"
        hint = f"If that is meant, write '{name}: non_differentiable'."
        self.context.errors.add(declaration.position, declaration.base, problem, hint)


def _formula(derivative: Symbolic, declaration: Declaration) -> Symbolic:
    """Conjugate Wirtinger derivative: the gradient of a holomorphic f is ``grad * conj(f')``."""
    own = conjugate(derivative) if declaration.supports_complex else derivative
    return product(GRADIENT, own, derivative=True)


def _with_formulas(declaration: Declaration, alternatives: list[list[Symbolic]], *, squares: bool) -> Declaration:
    """The declaration with a formula for each input that has none, and the ways to write it."""
    assert declaration.forward is not None
    position = declaration.forward.raw.position_of(declaration.forward.start)
    derived: list[RawFormula] = []
    for name, ways in zip(declaration.without_formula, alternatives, strict=True):
        texts = [DerivedText(formula_text(formula, squares=squares), position, "") for formula in ways]
        derived.append(RawFormula((name,), texts[0], is_derived=True, others=tuple(texts[1:])))
    return replace(declaration, formulas=(*declaration.formulas, *derived), without_formula=())


def _words(text: str) -> set[str]:
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


@dataclass(frozen=True)
class _Step:
    """An op applied to arguments some of which depend on the input."""

    deriver: Deriver
    rules: Rules
    arguments: tuple[Dual, ...]
    value: Symbolic
    only_real: bool

    def terms(self) -> Iterator[Symbolic]:
        for index, argument in enumerate(self.arguments):
            if argument.tangent is not None:
                partial = self._partial(index)
                if partial is not None:
                    yield product(argument.tangent, partial, derivative=True)

    def _partial(self, index: int) -> Symbolic | None:
        """Derivative of the op with respect to one parameter; None where the entry says that there is none."""
        parameter = self.rules.arguments[index]
        if self.rules.is_left_out(parameter):
            alone = [Dual(a.value, ONE if i == index else None) for i, a in enumerate(self.arguments)]
            scope = dict(zip(self.rules.arguments, alone, strict=True))
            return _Walk(self.deriver, scope, self.only_real).dual(self.rules.forward()).tangent
        if self.rules.ufunc == "power" and index == 0:
            rule = _power_rule(self.arguments[0].value, self.arguments[1].value)
            if rule is not None:
                return rule
        expr = self.rules.expect_formula(parameter)
        return None if expr is None else self._read(expr)

    def _read(self, expr: Expr) -> Symbolic:
        """The formula with one for the gradient, which makes it the (conjugate) derivative."""
        expr = self._unfolded(expr)
        _verify_linear(self.rules.base, expr, self.only_real)
        names = {name: dual.value for name, dual in zip(self.rules.arguments, self.arguments, strict=True)}
        names[self.rules.output] = self.value
        callees = self.deriver.context.callees
        found = Symbolizer(callees, names, ONE, only_real=self.only_real, derivative=True).read(expr)
        return found if self.only_real else conjugate(found)

    def _unfolded(self, expr: Expr) -> Expr:
        """A formula that is a call of another elementwise op, such as threshold_backward, is what that op computes."""
        if not isinstance(expr, Call) or expr.function == "where" or not self.deriver.has_entry(expr.c_entry):
            return expr
        called = self.deriver.rules_of(expr.c_entry)
        arguments = dict(zip(called.arguments, expr.arguments, strict=True))
        try:
            return substituted(called.forward(), {Name: lambda name: arguments[name.name]})
        except NoRule:
            return expr


@dataclass(frozen=True)
class _Walk:
    """Value and derivative of every step of one forward."""

    deriver: Deriver
    scope: Mapping[str, Dual]
    only_real: bool

    @property
    def _values(self) -> Symbolizer:
        names = {name: dual.value for name, dual in self.scope.items()}
        return Symbolizer(self.deriver.context.callees, names, only_real=self.only_real)

    def dual(self, expr: Expr) -> Dual:
        value = self._value(expr)
        match expr:
            case Name(name=name):
                return self.scope[name]
            case Operator(resolved=resolved, resolved_arguments=arguments) if resolved:
                return Dual(value, self._step(expr, resolved, self._duals(arguments), value))
            case Conditional(test=test, body=body, orelse=orelse):
                return Dual(value, self._choice(expr.is_elementwise, test, body, orelse))
            case Call():
                return Dual(value, self._call(expr, value))
        return Dual(value, None)

    def _value(self, expr: Expr) -> Symbolic:
        try:
            return self._values.read(expr)
        except NotSymbolic as problem:
            raise NoDerivative(_step_name(expr), f"it {problem}") from None

    def _duals(self, arguments: tuple[Expr, ...]) -> tuple[Dual, ...]:
        return tuple(map(self.dual, arguments))

    def _step(self, expr: Expr, c_entry: str, arguments: tuple[Dual, ...], value: Symbolic) -> Symbolic | None:
        try:
            return self.deriver.step(c_entry, arguments, value, self.only_real)
        except NoDerivative as problem:
            raise NoDerivative(_step_name(expr), problem.reason, problem.hint) from None

    def _call(self, expr: Call, value: Symbolic) -> Symbolic | None:
        if expr.function == "where" and len(expr.arguments) == 3:
            return self._choice(True, *expr.arguments)
        arguments = self._duals(expr.arguments)
        if expr.function in REAL_IDENTITIES and self.only_real:
            return arguments[0].tangent
        if all(argument.tangent is None for argument in arguments):
            return None
        if expr.function in REAL_IDENTITIES - {"positive"}:
            raise _not_holomorphic(expr.function)
        if expr.family == INTRINSIC or not self.deriver.has_entry(expr.c_entry):
            raise NoDerivative(expr.function, f"{expr.function} is no op of the table, and has no derivative")
        return self._step(expr, expr.c_entry, arguments, value)

    def _choice(self, by_element: bool, test: Expr, body: Expr, orelse: Expr) -> Symbolic | None:
        tangents = [self.dual(branch).tangent for branch in (body, orelse)]
        if tangents == [None, None]:
            return None
        left, right = (tangent or ZERO for tangent in tangents)
        return choice(self._value(test), left, right, by_element=by_element, derivative=True)


# ---- what a formula must be for its derivative to be read off


def _verify_linear(op: str, expr: Expr, only_real: bool) -> None:
    """`grad` stands in products and branches alone: then the formula with one for it is the derivative."""
    match expr:
        case Operator(symbol="+" | "-" | "neg" | "*" | "/", operands=operands):
            for operand in operands:
                _verify_linear(op, operand, only_real)
        case Conditional(body=body, orelse=orelse):
            _verify_linear(op, body, only_real)
            _verify_linear(op, orelse, only_real)
        case Call(function="where", arguments=(_, body, orelse)):
            _verify_linear(op, body, only_real)
            _verify_linear(op, orelse, only_real)
        case Call(function=function, arguments=arguments) if _reads_gradient(expr):
            if function == "zeros_like":
                return
            if function not in REAL_IDENTITIES:
                raise NoDerivative(op, f"the formula of {op} hands 'grad' to {function}")
            if not only_real:
                raise _not_holomorphic(op)
            _verify_linear(op, arguments[0], only_real)


def _reads_gradient(expr: Expr) -> bool:
    return any(isinstance(part, Gradient) for part in expr.walk())


def _not_holomorphic(step: str) -> NoDerivative:
    return NoDerivative(
        step, f"{step} has no complex derivative", "If the op is for real numbers, say 'complex: false'. "
    )


def _power_rule(base: Symbolic, exponent: Symbolic) -> Symbolic | None:
    """Derivative of a power with a fixed exponent. (The op's own formula looks at the exponent at run time.)"""
    if not isinstance(exponent, Number):
        return None
    less = exponent.value - 1
    lower = powers([(base, int(less))]) if less.denominator == 1 else Operation("**", (base, Number(less)))
    return product(exponent, lower, derivative=True)


# ---- where a step stands


def _step_name(expr: Expr) -> str:
    match expr:
        case Call(function=function):
            return function
        case Operator(symbol=symbol):
            return symbol
    return ""


def _offset_of(step: str, text: str) -> int:
    """Offset of the first such call or operator, or 0."""
    for node in ast.walk(parse(text)):
        match node:
            case ast.Call(func=ast.Name(id=name) as function) if name == step:
                return function.col_offset
            case ast.BinOp(op=operator) if BINARY_OPERATORS[type(operator)][0] == step:
                return text.find(step, node.left.end_col_offset or 0)
    return 0
