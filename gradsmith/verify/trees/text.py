"""Trees as text of the table's language."""

from __future__ import annotations

from gradsmith.codegen.formula.formula import (
    ATOM,
    BINDING,
    CONDITIONAL,
    Attribute,
    AttributeOf,
    Call,
    Conditional,
    Expr,
    Gradient,
    Gradients,
    Index,
    IsUndefined,
    IsWanted,
    Literal,
    Name,
    Operator,
    RunFact,
    Slice,
    Subscript,
    TupleExpr,
)

_PREFIX = {"neg": "-", "~": "~", "not": "not "}
_METHODS = ("numel", "is_complex", "stride", "storage_offset")


def written(expr: Expr) -> str:
    """``grad * conj(other)``: as an author would write the tree, but for names of gradients and defaults."""
    return _written(expr)[0]


def within(expr: Expr, binding: int) -> str:
    text, own = _written(expr)
    return f"({text})" if own < binding else text


def _written(expr: Expr) -> tuple[str, int]:
    match expr:
        case Name(name=name):
            return name, ATOM
        case Gradient(index=index):
            return "grad" if index == 0 else f"grads[{index}]", ATOM
        case Literal(value=value):
            return (str(value) if expr.type.name == "dtype" else repr(value)), ATOM
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(written, arguments))})", ATOM
        case Operator():
            return _operator(expr)
        case Conditional(test=test, body=body, orelse=orelse):
            one, asked = within(body, CONDITIONAL + 1), within(test, CONDITIONAL + 1)
            return f"{one} if {asked} else {within(orelse, CONDITIONAL)}", CONDITIONAL
        case Attribute(owner=owner, attribute=attribute):
            return _attribute(owner, attribute), ATOM
        case AttributeOf(value=value, attribute=attribute):
            return _attribute(within(value, ATOM), attribute), ATOM
    return _rare(expr), ATOM


def _rare(expr: Expr) -> str:
    match expr:
        case TupleExpr(items=items):
            return f"({', '.join(map(written, items))}{',' if len(items) == 1 else ''})"
        case Subscript(value=value, index=index):
            return f"{within(value, ATOM)}[{written(index)}]"
        case Slice(start=start, stop=stop, step=step):
            ends = ":".join("" if end is None else written(end) for end in (start, stop))
            return f"{ends}:{written(step)}" if step else ends
        case Index(items=items):
            return ", ".join(map(written, items))
        case IsWanted(input=name):
            return f"grad_input_mask['{name}']"
        case IsUndefined(index=index):
            return f"grads[{index}] is None"
        case RunFact(fact=fact):
            return f"{fact}()"
        case Gradients():
            return "grads"
    return type(expr).__name__


def _attribute(owner: str, attribute: str) -> str:
    if attribute == "is_none":
        return f"({owner} is None)"
    if attribute == "count":
        return f"len({owner})"
    return f"{owner}.{attribute}{'()' if attribute in _METHODS else ''}"


def _operator(expr: Operator) -> tuple[str, int]:
    symbol, binding = expr.symbol, BINDING[expr.symbol]
    if len(expr.operands) == 1:
        return f"{_PREFIX[symbol]}{within(expr.operands[0], binding)}", binding
    left, right = expr.operands
    return f"{within(left, binding)} {symbol} {within(right, binding + 1)}", binding
