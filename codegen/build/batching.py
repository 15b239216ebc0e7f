"""The batching rule of an op: from the types of its signature, its forward, or what its entry says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..check.context import Context, expect_returns
from ..entries.declaration import Declaration
from ..entries.reader import RawText
from ..formula.formula import Formula, Name
from ..formula.scope import Scope
from ..model import Batching, BatchMethod, Forward, Tangents
from ..spec.errors import Problem
from ..spec.schema import Argument, Signature

# Words that the key `batch` may have, besides a formula and `loop(why)`.
_METHODS: dict[str, BatchMethod] = {
    "elementwise": "elementwise",
    "slices": "along_slices",
    "indexing": "by_indexing",
    "values": "by_values",
}
_HINT = "Say elementwise, slices, values, loop(why), or a formula of ops that have rules of their own."
_LOOP = re.compile(r"loop\((.+)\)$", re.DOTALL)
_CORE = re.compile(r"\(([a-z]\??(?:,[a-z]\??)*)?\)")
_CONDITIONS = frozenset({"condition", "mask"})  # arguments whose dtype has no say in that of the result


def expect_batching(
    declaration: Declaration, signature: Signature, forward: Forward, tangents: Tangents | None, context: Context
) -> Batching | None:
    """The rule of one variant; None for a composite, and after an error, which has been reported."""
    batch, core = (declaration.entry.texts.get(key) for key in ("batch", "core"))
    if forward.kind == "composite":
        for said in filter(None, (batch, core)):
            context.error(said, 0, declaration.base, "a composite is batched by its parts", "Take this key away.")
        return None
    try:
        if core is not None:
            return _of_cores(core, batch, signature)
        if batch is not None:
            return _said(batch, declaration, signature, context)
    except Problem as problem:
        context.error(
            core or batch or declaration.entry.name, problem.offset, declaration.base, problem.problem, problem.hint
        )
        return None
    return _derived(declaration, signature, forward, tangents)


def _derived(declaration: Declaration, signature: Signature, forward: Forward, tangents: Tangents | None) -> Batching:
    if signature.generators:
        return _in_a_loop(signature, "it draws random numbers")
    if "require" in declaration.entry.pairs:
        return _in_a_loop(signature, "what it requires is said of one slice")
    by_element = tangents is not None and tangents.rule == "auto_element_wise"
    if forward.is_elementwise or declaration.is_intrinsic or by_element:
        return Batching("elementwise", "".join(map(_by_element, signature.arguments)))
    if any(argument.type.role for argument in signature.arguments):
        return Batching("along_slices", "".join(_along_slices(signature)))
    return _in_a_loop(signature, "no type of its signature says more")


def _in_a_loop(signature: Signature, reason: str) -> Batching:
    kinds = ("g" if argument.name in signature.generators else "." for argument in signature.arguments)
    return Batching("slice_by_slice", "".join(kinds), reason=reason)


def _said(batch: RawText, declaration: Declaration, signature: Signature, context: Context) -> Batching | None:
    loop = _LOOP.match(batch.text)
    if loop is not None:
        return _in_a_loop(signature, " ".join(loop[1].split()))
    method = _METHODS.get(batch.text)
    if method is None and batch.text.isidentifier() and batch.text not in {a.name for a in signature.arguments}:
        raise Problem(f"batch is '{batch.text}', which is no way to call an op for a batch", hint=_HINT)
    if method is None:
        return _by_parts(batch, declaration, signature, context)
    if method == "along_slices":
        return Batching(method, "".join(_along_slices(signature)))
    letter = "c" if method == "elementwise" else "."
    return Batching(method, "".join(letter if a.type.is_differentiable else "." for a in signature.arguments))


# ---- letters


def _by_element(argument: Argument) -> str:
    if not argument.type.is_tensor:
        return "."
    return "c" if argument.name in _CONDITIONS else "e"


def _along_slices(signature: Signature) -> Iterator[str]:
    broadcast = any(argument.type.role == "sizes" for argument in signature.arguments)
    for argument in signature.arguments:
        if argument.type.is_differentiable:
            yield "x" if broadcast else "b"
        else:
            yield _letter_of_role(argument)


def _letter_of_role(argument: Argument) -> str:
    role, declared = argument.type.role, argument.type
    if role == "dim" and declared.is_list:
        return "D" if declared.optional or argument.default == "()" else "F"
    return {"dim": "d", "new_dim": "i", "order": "P", "shape": "r", "sizes": "s"}.get(role, ".")


def _of_cores(core: RawText, batch: RawText | None, signature: Signature) -> Batching:
    """``(m?,k),(k,n?)->(m?,n?)``, as NumPy writes the signatures of generalized ufuncs."""
    if batch is not None:
        raise Problem("has 'core' and 'batch'", hint="The batching rule follows from 'core'.")
    operands, arrow, results = core.text.replace(" ", "").partition("->")
    inputs = [a for a in signature.arguments if a.type.is_differentiable]
    found = list(_CORE.finditer(operands))
    given = list(_CORE.finditer(results))
    if not arrow or not given or any(_joined(parts) != text for parts, text in ((found, operands), (given, results))):
        hint = "Write the last dimensions of each tensor, as in (m,k),(k,n)->(m,n)."
        raise Problem(f"core is '{core.text}', which is no signature of dimensions", hint=hint)
    if len(found) != len(inputs):
        raise Problem(f"core names {len(found)} tensors, but the op takes {len(inputs)}")
    letters = iter([_letter_of_core(match[1] or "") for match in found])
    return Batching("of_cores", "".join(next(letters) if a in inputs else "." for a in signature.arguments))


def _joined(parts: list[re.Match[str]]) -> str:
    return ",".join(match[0] for match in parts)


def _letter_of_core(dims: str) -> str:
    names = dims.split(",") if dims else []
    optional = [name.endswith("?") for name in names]
    if not any(optional):
        return str(len(names))
    if optional == [True, False]:
        return "<"
    if optional == [False, True]:
        return ">"
    raise Problem(
        f"core has '({dims})'", hint="One of the two dimensions of a matrix may be missing: (m?,k) or (k,n?)."
    )


# ---- parts


def _by_parts(batch: RawText, declaration: Declaration, signature: Signature, context: Context) -> Batching | None:
    """A formula of ops that have rules of their own."""
    scope = Scope(
        variables={a.name: Name(a.type.plain, a.name) for a in signature.arguments},
        own_base=declaration.base if context.callees.of_library(declaration.base) else "",
        multi_returns=context.multi_returns,
    )
    resolved = context.expect_expr(batch, scope, declaration.base, "batch")
    if resolved is None:
        return None
    expect_returns(resolved.expr, tuple(r.type.plain for r in signature.without_writes.returns))
    formula = Formula(batch.text, batch.position.line, batch.position.column, resolved.expr, False)
    return Batching("by_parts", "." * len(signature.arguments), parts=formula)
