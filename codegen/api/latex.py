"""Formulas as LaTeX, for the documentation.

The text of a formula is read again, not its tree: a reader of mathematics does not care which C entry an operator was
resolved to. `self` is x, `other` y, `grad` g and `result` r; other names are Greek letters where they can be.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..model import Op

_NAMES = {"self": "x", "other": "y", "grad": "g", "result": "r", "pi": r"\pi", "inf": r"\infty"}
_GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "mu", "nu", "rho", "sigma", "tau", "phi"}
)
# Functions with a name of their own in LaTeX.
_COMMANDS = frozenset({"cos", "cosh", "exp", "log", "max", "min", "sin", "sinh", "tan", "tanh"})
_WORDS = {
    "maximum": r"\max", "minimum": r"\min", "amax": r"\max", "amin": r"\min", "arcsin": r"\arcsin",
    "arccos": r"\arccos", "arctan": r"\arctan", "absolute": "abs",
}  # fmt: skip
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: r"\,", ast.MatMult: r"\,", ast.Mod: r"\bmod",
    ast.BitAnd: r"\land", ast.BitOr: r"\lor", ast.BitXor: r"\oplus", ast.And: r"\land", ast.Or: r"\lor",
    ast.Eq: "=", ast.NotEq: r"\ne", ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge",
    ast.Is: "=", ast.IsNot: r"\ne",
}  # fmt: skip
# The value of a ufunc, as an expression.
_UFUNCS = {
    "add": "self + other", "subtract": "self - other", "multiply": "self * other", "true_divide": "self / other",
    "divide": "self / other", "floor_divide": "self // other", "remainder": "self % other", "power": "self ** other",
    "negative": "-self", "absolute": "abs(self)", "conjugate": "conj(self)", "equal": "self == other",
    "not_equal": "self != other", "less": "self < other", "less_equal": "self <= other", "greater": "self > other",
    "greater_equal": "self >= other",
}  # fmt: skip

# How tightly an expression binds, loosest first.
_CHOICE, _LOGIC, _COMPARISON, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(8)
_BINDING = {ast.Add: _SUM, ast.Sub: _SUM, ast.BitAnd: _LOGIC, ast.BitOr: _LOGIC, ast.BitXor: _LOGIC}


def latex_of(text: str) -> str:
    """The formula in `text`, a Python expression, as LaTeX without its delimiters.

    >>> print(latex_of("grad * conj(1 - result * result)"))
    g \\, \\overline{1 - r^2}
    """
    return _Printer().text(ast.parse(" ".join(text.split()), mode="eval").body)


def forward_latex(op: Op) -> str:
    """The value of an op: the formula of its loop, else the `latex` of its entry."""
    forward, names = op.variants[0].forward, [a.name for a in op.signature.arguments]
    if op.policy.latex or not forward.is_elementwise:
        return op.policy.latex
    if forward.kind == "pointwise":
        return latex_of(forward.text)
    text = _UFUNCS.get(forward.ufunc, f"{forward.ufunc}({', '.join(names)})")
    return latex_of(text.replace("other", names[1]) if len(names) > 1 else text)


class _Printer:
    def text(self, node: ast.expr) -> str:
        return self._print(node)[0]

    def within(self, node: ast.expr, binding: int) -> str:
        text, own = self._print(node)
        return rf"\left({text}\right)" if own < binding else text

    def arguments(self, nodes: list[ast.expr]) -> str:
        return ", ".join(map(self.text, nodes))

    def _print(self, node: ast.expr) -> tuple[str, int]:
        """Text, and how tightly it binds."""
        match node:
            case ast.Name(id=name):
                return _name(name), _ATOM
            case ast.Constant(value=value):
                return _constant(value), _ATOM
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"-{self.within(operand, _PRODUCT)}", _SIGN
            case ast.UnaryOp(op=op, operand=operand):
                sign = "" if isinstance(op, ast.UAdd) else r"\lnot "
                return f"{sign}{self.within(operand, _SIGN)}", _SIGN
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare(left=left, ops=ops, comparators=others):
                signs = [_OPERATORS.get(type(comparison), "=") for comparison in ops]
                parts = [self.within(other, _SUM) for other in (left, *others)]
                pairs = zip(signs, parts[1:], strict=True)
                return " ".join([parts[0], *(f"{sign} {part}" for sign, part in pairs)]), _COMPARISON
            case ast.BoolOp(op=op, values=values):
                return f" {_OPERATORS[type(op)]} ".join(self.within(v, _COMPARISON) for v in values), _LOGIC
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._cases(test, body, orelse)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments)
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
                return self._call(name, [value, *arguments])
            case ast.Attribute(value=value, attr=name):
                return rf"\operatorname{{{_plain(name)}}}\left({self.text(value)}\right)", _ATOM
            case ast.Subscript(value=value, slice=index):
                return f"{self.within(value, _ATOM)}_{{{self.text(index)}}}", _ATOM
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return rf"\left({self.arguments(items)}\right)", _ATOM
        return rf"\texttt{{{_plain(ast.unparse(node))}}}", _ATOM

    def _binary(self, node: ast.BinOp) -> tuple[str, int]:
        match node:  # Python reads the sign of a product as that of its first factor
            case ast.BinOp(left=ast.UnaryOp(op=ast.USub(), operand=first), op=ast.Mult() | ast.Div()):
                return f"-{self.within(ast.BinOp(first, node.op, node.right), _PRODUCT)}", _SIGN
        if isinstance(node.op, (ast.Div, ast.FloorDiv)):
            quotient = rf"\frac{{{self.text(node.left)}}}{{{self.text(node.right)}}}"
            floor = isinstance(node.op, ast.FloorDiv)
            return (rf"\left\lfloor {quotient} \right\rfloor", _ATOM) if floor else (quotient, _PRODUCT)
        if isinstance(node.op, ast.Pow):
            return f"{self.within(node.left, _ATOM)}^{{{self.text(node.right)}}}", _POWER
        binding = _BINDING.get(type(node.op), _PRODUCT)
        left, right = self.within(node.left, binding), self.within(node.right, binding + 1)
        if isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right):
            return f"{self.within(node.left, _ATOM)}^2", _POWER
        # Two numbers side by side would read as one.
        symbol = r"\cdot" if isinstance(node.op, ast.Mult) and right[:1].isdigit() else _OPERATORS[type(node.op)]
        return f"{left} {symbol} {right}", binding

    def _call(self, name: str, arguments: list[ast.expr]) -> tuple[str, int]:
        special = _SPECIAL.get((name, len(arguments)))
        if special is not None:
            return special(self, arguments)
        if name in _COMMANDS and len(arguments) == 1:
            return rf"\{name}\left({self.text(arguments[0])}\right)", _ATOM
        command = _WORDS.get(name, rf"\operatorname{{{_plain(name)}}}")
        return rf"{command}\left({self.arguments(arguments)}\right)", _ATOM

    def _cases(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> tuple[str, int]:
        first = rf"{self.text(body)} & \text{{if }} {self.text(test)}"
        return rf"\begin{{cases}} {first} \\ {self.text(orelse)} & \text{{otherwise}} \end{{cases}}", _CHOICE

    def _around(self, left: str, right: str, operand: ast.expr) -> tuple[str, int]:
        return f"{left}{self.text(operand)}{right}", _ATOM


_SPECIAL: dict[tuple[str, int], Callable[[_Printer, list[ast.expr]], tuple[str, int]]] = {
    ("where", 3): lambda p, a: p._cases(a[0], a[1], a[2]),
    ("conj", 1): lambda p, a: p._around(r"\overline{", "}", a[0]),
    ("sqrt", 1): lambda p, a: p._around(r"\sqrt{", "}", a[0]),
    ("rsqrt", 1): lambda p, a: p._around(r"\frac{1}{\sqrt{", "}}", a[0]),
    ("abs", 1): lambda p, a: p._around(r"\left|", r"\right|", a[0]),
    ("exp", 1): lambda p, a: p._around("e^{", "}", a[0]),
    ("square", 1): lambda p, a: (f"{p.within(a[0], _ATOM)}^2", _POWER),
    ("reciprocal", 1): lambda p, a: p._around(r"\frac{1}{", "}", a[0]),
    ("mT", 1): lambda p, a: (rf"{p.within(a[0], _ATOM)}^\mathsf{{T}}", _POWER),
    ("T", 1): lambda p, a: (rf"{p.within(a[0], _ATOM)}^\mathsf{{T}}", _POWER),
    ("t", 1): lambda p, a: (rf"{p.within(a[0], _ATOM)}^\mathsf{{T}}", _POWER),
    ("real", 1): lambda p, a: (rf"\Re\left({p.text(a[0])}\right)", _ATOM),
    ("imag", 1): lambda p, a: (rf"\Im\left({p.text(a[0])}\right)", _ATOM),
    ("matmul", 2): lambda p, a: (f"{p.within(a[0], _PRODUCT)} {p.within(a[1], _SIGN)}", _PRODUCT),
    ("zeros_like", 1): lambda p, a: ("0", _ATOM),
    ("maximum", 2): lambda p, a: (rf"\max\left({p.arguments(a)}\right)", _ATOM),
    ("floor", 1): lambda p, a: p._around(r"\lfloor ", r" \rfloor", a[0]),
    ("ceil", 1): lambda p, a: p._around(r"\lceil ", r" \rceil", a[0]),
}


def _name(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    base, _, index = name.rpartition("_")
    if index == "t" and base:  # the tangent of an input
        return rf"\dot{{{_name(base)}}}"
    if base == "grad":
        return f"g_{{{_name(index)}}}"
    if name in _GREEK:
        return rf"\{name}"
    return name if len(name) == 1 else rf"\mathit{{{_plain(name)}}}"


def _constant(value: object) -> str:
    if isinstance(value, complex):
        return rf"{value.imag:g}\,\mathrm{{i}}" if value.imag != 1 else r"\mathrm{i}"
    if isinstance(value, str):
        return rf"\text{{{_plain(value)}}}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(text: str) -> str:
    return text.replace("_", r"\_")
