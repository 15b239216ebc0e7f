"""Type stubs of the families and of the Tensor class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..api.calls import ResultType
from ..api.functions import Face, FunctionView, OperatorView
from ..api.overloads import Binder
from ..api.parameters import SPREAD, Parameter
from ..model import Table
from ..spec.names import FIRST_TENSOR
from ..spec.schema_types import Type
from ..views.model import FamilyView, Import
from ..views.tensor import all_faces

_TYPES = {
    "Tensor": "Tensor", "Tensor|Scalar": "TensorLike", "Tensor[]": "Sequence[Tensor]", "Scalar": "Number",
    "int": "int", "int[]": "int | Sequence[int]", "float": "float", "bool": "bool", "str": "str",
    "dtype": "DTypeLike", "device": "DeviceLike", "Generator": "Generator", "object": "Any",
    "Tensor?[]": "Sequence[Tensor | None]", "float[]": "Sequence[float]", "bool[]": "Sequence[bool]",
    "Scalar[]": "Sequence[Number]", "str[]": "Sequence[str]",
}  # fmt: skip


@dataclass(frozen=True)
class StubFunction:
    """One ``def``; several of one name are overloads."""

    name: str
    parameters: tuple[str, ...]
    returns: str
    overloaded: bool
    summary: str
    assignable: bool = False  # of properties


@dataclass(frozen=True)
class FamilyStub:
    name: str
    result_types: tuple[ResultType, ...]
    functions: tuple[StubFunction, ...]
    aliases: tuple[tuple[str, str], ...]

    @property
    def draws(self) -> bool:
        """Does one of the functions take a source of random numbers?"""
        return _draw(self.functions)


@dataclass(frozen=True)
class TensorStub:
    result_imports: tuple[Import, ...]  # named tuples, by family
    operators: tuple[StubFunction, ...]
    properties: tuple[StubFunction, ...]
    methods: tuple[StubFunction, ...]
    aliases: tuple[tuple[str, str], ...]

    @property
    def draws(self) -> bool:
        return _draw(self.methods)


def _draw(functions: tuple[StubFunction, ...]) -> bool:
    return any(": Generator" in parameter for function in functions for parameter in function.parameters)


def stub_view(family: FamilyView) -> FamilyStub:
    return FamilyStub(
        name=family.name,
        result_types=tuple(t for face in family.faces for t in face.result_types),
        functions=tuple(s for face in family.faces for f in face.functions for s in _stubs(face, f, method=False)),
        aliases=tuple(pair for face in family.faces for pair in face.function_aliases),
    )


def tensor_stub_view(table: Table) -> TensorStub:
    faces = all_faces(table)
    return TensorStub(
        result_imports=tuple(_result_imports(faces, table)),
        operators=tuple(_operator(operator) for face in faces for operator in face.operators),
        properties=tuple(_plain(face, p, method=True) for face in faces for p in face.properties),
        methods=tuple(s for face in faces for m in face.methods for s in _stubs(face, m, method=True)),
        aliases=tuple(pair for face in faces for pair in _method_aliases(face)),
    )


def _method_aliases(face: Face) -> Iterator[tuple[str, str]]:
    """Those of methods that can be called."""
    callable_ = {method.name for method in face.methods}
    return ((alias, name) for alias, name in face.method_aliases if name in callable_)


def _result_imports(faces: list[Face], table: Table) -> Iterator[Import]:
    found: dict[str, list[str]] = {}
    for face in faces:
        if face.methods and face.result_types:
            found.setdefault(face.family, []).extend(result.name for result in face.result_types)
    for family, names in found.items():
        yield Import(f"{table.package}.{family}", tuple(names))


def argument_text(p: Parameter, *, overloaded: bool) -> str:
    """What may be given: arrays, lists and numbers too where the op makes tensors of them."""
    text = type_text(p.type)
    if p.name == "out" or p.type.written or p.type.union_scalar:
        return text
    # Overloads are told apart by what is a tensor; numbers and lists may be dimensions.
    return re.sub(r"\bTensor\b", "Tensor | NDArray[Any]" if overloaded else "TensorLike", text)


def type_text(type_: Type) -> str:
    text = _TYPES[str(replace(type_.plain.required, length=0))]
    if type_.is_tensor_list and type_.length:  # of `out`
        text = f"tuple[{', '.join(['Tensor'] * type_.length)}] | list[Tensor]"
    elif type_.length and type_.name != "int":  # one value for all of them
        text = f"{_TYPES[type_.name]} | {text}"
    return f"{text} | None" if type_.optional else text


def _stubs(face: Face, function: FunctionView, *, method: bool) -> Iterator[StubFunction]:
    binder = next((b for b in face.binders if b.name == function.binder), None)
    if binder is None:
        yield _plain(face, function, method=method)
    else:
        yield from _overloads(face, function, binder, method=method)


def _plain(face: Face, function: FunctionView, *, method: bool) -> StubFunction:
    first = ("self",) if method else ()
    returns = _returns(face, function.target.call)
    parameters = (*first, *_parameter_texts(function.parameters, overloaded=False))
    summary, assignable = function.doc.summary, function.assignable
    return StubFunction(function.name, parameters, returns, overloaded=False, summary=summary, assignable=assignable)


def _overloads(face: Face, function: FunctionView, binder: Binder, *, method: bool) -> Iterator[StubFunction]:
    for candidate in binder.candidates:
        if method and not any(p.name == "input" and p.type.is_tensor for p in candidate.parameters):
            continue
        parameters = [p for p in candidate.parameters if not method or p.name != "input"]
        texts = (*(("self",) if method else ()), *_parameter_texts(list(_spread(parameters)), overloaded=True))
        returns = _returns(face, candidate.call)
        yield StubFunction(function.name, texts, returns, overloaded=True, summary=function.doc.summary)


def _spread(parameters: list[Parameter]) -> Iterator[Parameter]:
    """``x.view(2, 3)`` and ``x.view(size=(2, 3))``, as `parameters` has it for what is not overloaded."""
    for p in parameters:
        if p.variadic and not p.type.is_tensor_list:
            yield Parameter(SPREAD, p.type, variadic=True)
            yield Parameter(p.name, p.type, "None", keyword_only=True)
        else:
            yield p


def _returns(face: Face, call: str) -> str:
    return next((c.returns for c in face.calls if c.name == call), "Tensor")


def _parameter_texts(parameters: tuple[Parameter, ...] | list[Parameter], *, overloaded: bool) -> Iterator[str]:
    starred = follows_default = False
    for p in parameters:
        if p.second_name_of in (FIRST_TENSOR, "other"):
            continue  # what is written anew uses the first names
        if p.keyword_only and not starred:
            yield "*"
        starred = starred or p.keyword_only or p.variadic
        text = _parameter_text(p, overloaded=overloaded)
        # A parameter after `dim`, which `axis` may replace, has a default in Python though calls must name it.
        yield f"{text} = ..." if follows_default and not starred and "=" not in text else text
        follows_default = follows_default or "=" in text


def _parameter_text(p: Parameter, *, overloaded: bool) -> str:
    text = argument_text(p, overloaded=overloaded)
    if p.variadic:
        return f"*{p.name}: Any"
    if p.is_required and p.name not in ("dim", "keepdim"):
        return f"{p.name}: {text}"
    if p.default == "None" and not text.endswith("None") and text != "Any":
        text = f"{text} | None"
    return f"{p.name}: {text} = {p.default}" if p.default else f"{p.name}: {text}"


_COMPARISONS = frozenset({"__eq__", "__ne__"})


def _operator(operator: OperatorView) -> StubFunction:
    if operator.method == "__setitem__":
        parameters: tuple[str, ...] = ("self", "index: Any", "value: TensorLike")
        return StubFunction(operator.method, parameters, "None", overloaded=False, summary="")
    if operator.kind == "item":
        parameters = ("self", "index: Any")
    elif operator.kind == "unary":
        parameters = ("self",)
    else:
        parameters = ("self", "other: Any" if operator.method in _COMPARISONS else "other: TensorLike")
    return StubFunction(operator.method, parameters, "Tensor", overloaded=False, summary="")
