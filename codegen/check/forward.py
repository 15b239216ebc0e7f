"""How an op computes its value: the text of ``forward:`` checked for one variant."""

from __future__ import annotations

import ast

from ..arrays.free_names import free_names
from ..arrays.python_names import verify_attributes, verify_expression
from ..entries.declaration import Declaration, RawForward
from ..formula.formula import Expr, Formula, Name
from ..formula.loops import why_not_loop
from ..formula.scope import TENSOR, Scope
from ..model import Forward
from ..spec.errors import Problem, did_you_mean, hint_from
from ..spec.helpers import WRITES
from ..spec.reserved import derived_names, is_taken
from ..spec.schema import Signature
from ..spec.sizes import verify_sizes
from ..spec.syntax import called, is_bare_tuple, parse
from ..spec.vocabulary import ARRAY_BUILTINS, SCIPY_MODULES, UFUNCS
from .context import Context, expect_returns
from .writes import verify_reads_only


def expect_forward(declaration: Declaration, signature: Signature, context: Context) -> Forward | None:
    """The forward of one variant; None after an error, which has been reported."""
    raw = declaration.forward
    if raw is None:
        return None
    build = {"ufunc": _ufunc, "pointwise": _tree, "composite": _tree, "array": _array}[raw.kind]
    try:
        return build(raw, declaration, signature, context)
    except Problem as problem:
        offset = raw.start + problem.offset
        context.error(raw.raw, offset, declaration.base, problem.problem, problem.hint)
        return None


def _ufunc(raw: RawForward, declaration: Declaration, signature: Signature, context: Context) -> Forward:
    name = raw.text.strip()
    if name not in UFUNCS:
        raise Problem(f"forward names the ufunc '{name}', which is none", hint=did_you_mean(name, UFUNCS))
    count = UFUNCS[name]
    if len(signature.arguments) != count:
        operands = f"{count} operand{'s' if count > 1 else ''}"
        raise Problem(f"ufunc {name} takes {operands}, but the op has {len(signature.arguments)}")
    wrong = [a for a in signature.arguments if str(a.type.plain) not in ("Tensor", "Scalar")]
    if wrong:
        raise Problem(f"ufunc {name} cannot take '{wrong[0].name}', which is {wrong[0].type}")
    _require_one_tensor(signature, f"ufunc {name}")
    if not signature.tensor_arguments:
        raise Problem(f"ufunc {name} takes a Tensor at least")
    return Forward("ufunc", raw.text, ufunc=name)


def _require_one_tensor(signature: Signature, what: str) -> None:
    returned = [r.type.plain for r in signature.returns]
    if returned != [TENSOR]:
        shown = ", ".join(map(str, returned))
        raise Problem(f"{what} gives one Tensor, but the op returns {shown}")


def _tree(raw: RawForward, declaration: Declaration, signature: Signature, context: Context) -> Forward | None:
    """``pointwise`` or ``composite``: an expression over ops."""
    pointwise = raw.kind == "pointwise"
    scope = Scope(
        variables={a.name: Name(a.type.plain, a.name) for a in signature.arguments},
        elementwise=pointwise,
        own_base=declaration.base if pointwise or context.callees.of_library(declaration.base) else "",
        multi_returns=context.multi_returns,
    )
    part = (raw.start, raw.text)
    resolved = context.expect_expr(raw.raw, scope, declaration.base, "forward", part)
    if resolved is None:
        return None
    if pointwise:
        _verify_loop(resolved.expr, signature, context)
    else:
        expect_returns(resolved.expr, tuple(r.type.plain for r in signature.returns))
    position = raw.raw.position_of(raw.start)
    formula = Formula(raw.text, position.line, position.column, resolved.expr, pointwise)
    return Forward(raw.kind, raw.text, formula=formula)


def _verify_loop(expr: Expr, signature: Signature, context: Context) -> None:
    _require_one_tensor(signature, "a loop")
    reason = why_not_loop(expr, context.callees)
    if reason:
        raise Problem(f"forward is no loop: {reason}", hint="Write array(...) or composite(...).")
    if expr.type.plain != TENSOR:
        raise Problem(f"forward gives {expr.type}, which is no Tensor")


def _array(raw: RawForward, declaration: Declaration, signature: Signature, context: Context) -> Forward:
    """An expression over ndarrays: only its names are checked, NumPy does the rest."""
    try:
        tree = parse(raw.text)
    except Problem as problem:
        raise Problem(f"forward {problem.problem}", problem.offset, problem.hint) from None
    verify_expression(tree, "forward")
    _verify_tuple(tree, signature)
    arguments = {a.name for a in signature.arguments}
    read = list(free_names(tree))
    _verify_bound(tree, signature)
    known = arguments | {"np", "scipy"} | ARRAY_BUILTINS | context.functions.keys()
    for name in read:
        if name.id not in known:
            raise _unknown_array_name(name, arguments, context)
    used = {n.id for n in read}
    needs_scipy = "scipy" in used - arguments - context.functions.keys()
    if needs_scipy:
        _verify_scipy(tree)
    verify_attributes(tree, "forward", used & arguments | context.functions.keys(), signature.generators)
    verify_sizes(tree, "forward")
    verify_reads_only(tree)
    return Forward(
        "array",
        raw.text,
        names=frozenset(used & arguments),
        functions=tuple((n, context.functions[n]) for n in sorted(used - arguments) if n in context.functions),
        builtins=frozenset(used & ARRAY_BUILTINS - arguments),
        needs_scipy=needs_scipy,
        writer=_writer(raw.text, context),
    )


def _writer(text: str, context: Context) -> str:
    """``index_put_into`` of a forward that is a call of ``index_put_of``."""
    name = f"{called(text).removesuffix('_of')}{WRITES}"
    return name if name in context.writers else ""


def _verify_tuple(tree: ast.expr, signature: Signature) -> None:
    """An array for each result; a list of results is one value."""
    if not isinstance(tree, ast.Tuple):
        return
    if signature.returns_list:
        if is_bare_tuple(tree):
            raise Problem("forward gives several values for one list", hint="Write them in brackets.")
    elif len(tree.elts) != len(signature.returns) and not any(isinstance(item, ast.Starred) for item in tree.elts):
        wanted = "1 result" if len(signature.returns) == 1 else f"{len(signature.returns)} results"
        raise Problem(f"forward gives {len(tree.elts)} arrays, but the op returns {wanted}")


def _verify_bound(tree: ast.expr, signature: Signature) -> None:
    """A loop in the expression has a variable of its own, since it is one of the whole function."""
    named = {*(a.name for a in signature.arguments), *signature.output_names, *derived_names(signature)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        if node.id in named or (node.id != "i" and is_taken(node.id, pointwise=True, joint=True)):
            problem = f"forward has a loop whose variable '{node.id}' means something else there"
            raise Problem(problem, node.col_offset, "Choose another name.")


def _verify_scipy(tree: ast.expr) -> None:
    """Each `scipy` is followed by a module and a function. Which functions there are only SciPy knows."""
    followed = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for name in ast.walk(tree):
        if not isinstance(name, ast.Name) or name.id != "scipy":
            continue
        module = followed.get(id(name))
        if module is None or id(module) not in followed:
            hint = "Write scipy.<module>.<function>, as in scipy.special.erfinv(self)."
            raise Problem("forward uses 'scipy' without module and function", name.col_offset, hint)
        if module.attr not in SCIPY_MODULES:
            hint = hint_from("Modules", module.attr, SCIPY_MODULES)
            raise Problem(f"forward uses 'scipy.{module.attr}', which is no module of SciPy", name.col_offset, hint)


def _unknown_array_name(name: ast.Name, arguments: set[str], context: Context) -> Problem:
    near = did_you_mean(name.id, [*arguments, "np", "scipy", *context.functions])
    hint = f"Arguments: {', '.join(sorted(arguments))}. {near}".rstrip()
    problem = f"forward uses '{name.id}', which is no argument and no {context.function_kind}"
    return Problem(problem, name.col_offset, hint)
