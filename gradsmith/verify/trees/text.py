"""Trees as text of the table's language."""

from __future__ import annotations

from gradsmith.codegen.formula import formula as tree
from gradsmith.codegen.formula.formula import ATOM, BINDING, CONDITIONAL, Expr

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
        case tree.Name(name=name):
            return name, ATOM
        case tree.Gradient(index=index):
            return "grad" if index == 0 else f"grads[{index}]", ATOM
        case tree.Literal(value=value):
            return (str(value) if expr.type.name == "dtype" else repr(value)), ATOM
        case tree.Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(written, arguments))})", ATOM
        case tree.Operator():
            return _operator(expr)
        case tree.Conditional(test=test, body=body, orelse=orelse):
            one, asked = within(body, CONDITIONAL + 1), within(test, CONDITIONAL + 1)
            return f"{one} if {asked} else {within(orelse, CONDITIONAL)}", CONDITIONAL
        case tree.Attribute(owner=owner, attribute=attribute):
            return _attribute(owner, attribute), ATOM
        case tree.AttributeOf(value=value, attribute=attribute):
            return _attribute(within(value, ATOM), attribute), ATOM
    return _rare(expr), ATOM


def _rare(expr: Expr) -> str:
    match expr:
        case tree.TupleExpr(items=items):
            return f"({', '.join(map(written, items))}{',' if len(items) == 1 else ''})"
        case tree.Subscript(value=value, index=index):
            return f"{within(value, ATOM)}[{written(index)}]"
        case tree.Slice(start=start, stop=stop, step=step):
            ends = ":".join("" if end is None else written(end) for end in (start, stop))
            return f"{ends}:{written(step)}" if step else ends
        case tree.Index(items=items):
            return ", ".join(map(written, items))
        case tree.IsWanted(input=name):
            return f"grad_input_mask['{name}']"
        case tree.IsUndefined(index=index):
            return f"grads[{index}] is None"
        case tree.RunFact(fact=fact):
            return f"{fact}()"
        case tree.Gradients():
            return "grads"
        case tree.Variable(name=name):
            return name
        case tree.Comprehension(item=item, loops=loops):
            return f"[{written(item)} {' '.join(map(_loop, loops))}]"
    return type(expr).__name__


def _loop(loop: tree.Loop) -> str:
    tests = (f" if {within(test, CONDITIONAL + 1)}" for test in loop.tests)
    return f"for {_target(loop.target)} in {within(loop.source, CONDITIONAL + 1)}{''.join(tests)}"


def _target(target: Expr) -> str:
    if not isinstance(target, tree.TupleExpr):
        return written(target)
    return ", ".join(f"({_target(t)})" if isinstance(t, tree.TupleExpr) else _target(t) for t in target.items)


def _attribute(owner: str, attribute: str) -> str:
    if attribute == "is_none":
        return f"({owner} is None)"
    if attribute == "count":
        return f"len({owner})"
    return f"{owner}.{attribute}{'()' if attribute in _METHODS else ''}"


def _operator(expr: tree.Operator) -> tuple[str, int]:
    symbol, binding = expr.symbol, BINDING[expr.symbol]
    match expr.operands:
        case (tree.Operator(symbol="is", operands=(value, none)),) if symbol == "not":
            return f"{within(value, BINDING['is'] + 1)} is not {written(none)}", BINDING["is"]
    if len(expr.operands) == 1:
        return f"{_PREFIX[symbol]}{within(expr.operands[0], binding)}", binding
    left, right = expr.operands
    return f"{within(left, binding)} {symbol} {within(right, binding + 1)}", binding
