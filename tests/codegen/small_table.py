"""A table of a few ops that formulas under test may call, and ways to look at what was built."""

from codegen.build.build import load_table
from codegen.formula.formula import (
    Attribute,
    AttributeOf,
    Call,
    Comprehension,
    Conditional,
    Expr,
    Formula,
    Gradient,
    Gradients,
    IsUndefined,
    IsWanted,
    Literal,
    Loop,
    Name,
    Operator,
    RunFact,
    Slice,
    Subscript,
    TupleExpr,
    Variable,
)
from codegen.model import Op, Table
from codegen.spec.schema import Signature

OPS = """\
arithmetic:
- name: add(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor
  forward: pointwise(self - -other if alpha == 1 else self - -alpha * other)
  self: grad
  other: grad * conj(alpha)
  operators: {binary: __add__, reflected: __radd__}
  variants: [function, method]
  samples: real(3), other=real(3)
  doc: Sum.
- name: sub(Tensor|Scalar self, Tensor|Scalar other) -> Tensor
  forward: ufunc(subtract)
  self: grad
  other: -grad
  operators: {binary: __sub__, reflected: __rsub__}
  variants: [function, method]
  samples: real(3), other=real(3)
  doc: Difference.
- name: mul(Tensor self, Tensor|Scalar other) -> Tensor
  forward: ufunc(multiply)
  self: grad * conj(other)
  other: grad * conj(self)
  variants: [function, method, inplace, out]
  operators: {binary: __mul__, reflected: __rmul__, inplace: __imul__}
  aliases: [multiply]
  samples: ['real(3, 4), other=real(3, 4)', 'real(3, 4), other=2.5']
  doc: Product.
- name: neg(Tensor self) -> Tensor
  forward: ufunc(negative)
  self: -grad
  operators: {unary: __neg__}
  variants: [function, method]
  samples: real(3)
  doc: Negative.
- name: conj(Tensor self) -> Tensor
  forward: ufunc(conjugate)
  self: conj(grad)
  variants: [function, method]
  samples: real(3)
  doc: Conjugate.
exponential:
- name: exp(Tensor self) -> Tensor
  forward: ufunc(exp)
  self: grad * conj(result)
  variants: [function, method]
  samples: real(3)
  doc: Exponential.
comparison:
- name: gt(Tensor self, Tensor|Scalar other) -> Tensor
  forward: ufunc(greater)
  nondifferentiable: it jumps
  operators: {binary: __gt__}
  variants: [function, method]
  samples: real(3), other=real(3)
  doc: Greater.
- name: lt(Tensor self, Tensor|Scalar other) -> Tensor
  forward: ufunc(less)
  nondifferentiable: it jumps
  operators: {binary: __lt__}
  variants: [function, method]
  samples: real(3), other=real(3)
  doc: Less.
- name: where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor
  forward: array(np.where(condition, self, other))
  condition: non_differentiable
  self: where(condition, grad, 0)
  other: where(condition, 0, grad)
  variants: [function]
  samples: real(3), self=real(3), other=real(3)
  doc: Choice.
reduce:
- name: sum(Tensor self) -> Tensor
  forward: array(np.sum(self))
  self: grad.expand(self.shape)
  variants: [function, method]
  samples: real(3)
  doc: Sum of all.
- name: sum.dim(Tensor self, int[]? dim, bool keepdim=False) -> Tensor
  forward: array(np.sum(self, dim, keepdims=keepdim))
  self: grad.expand(self.shape) if keepdim or dim is None else None
  variants: [function, method]
  samples: real(3), dim=None
  doc: Sum along dimensions.
- name: max(Tensor self, int dim) -> (Tensor values, Tensor indices)
  forward: array((np.max(self, dim), np.argmax(self, dim)))
  self: selection_backward(grad_values, indices, self.shape, dim, False)
  output_differentiability: [true, false]
  variants: [function, method]
  samples: real(3), dim=1
  doc: Maximum.
shape:
- name: expand(Tensor(a) self, int[] size) -> Tensor(a)
  forward: array(np.broadcast_to(self, size))
  self: grad
  variadic: size
  variants: [function, method]
  samples: real(3), size=(1,)
  doc: Expanded.
- name: mT(Tensor(a) self) -> Tensor(a)
  forward: array(self.mT)
  self: grad.mT
  variants: [property]
  samples: real(3)
  doc: Transposed.
- name: cat(Tensor[] tensors, int dim=0) -> Tensor
  forward: array(np.concatenate(tensors, dim))
  tensors: cat_backward(grad, tensors.shape, dim)
  variants: [function]
  samples: tensors=[real(3), real(3)]
  doc: Joined.
- name: unbind(Tensor(a) self, int dim=0) -> Tensor(a)[]
  forward: array(list(np.moveaxis(self, dim, 0)))
  self: cat(filled_slices(grads, self.shape, self.dtype, dim), dim)
  variants: [function, method]
  samples: real(3)
  doc: Parts.
"""


VALUES = {
    "Tensor": "real(3)", "Tensor|Scalar": "real(3)", "Tensor[]": "[real(3)]", "int": "1", "int[]": "(1,)",
    "bool": "True", "dtype": "'float32'", "device": "'cpu'", "str": "'a'",
}  # fmt: skip


def complete(entry: str) -> str:
    """An entry that begins with its schema, as an item of a family, with `samples` and `doc` filled in."""
    entry = entry.strip()
    arguments = Signature.parse(entry.partition("\n")[0]).arguments
    required = [a for a in arguments if a.default is None]
    everything = ", ".join(a.name for a in arguments)  # an argument that nobody reads would be a mistake
    if len(arguments) > 1:
        entry = entry.replace("forward: array(self)", f"forward: array(({everything})[0])")
    values = ", ".join(f"{a.name}={VALUES.get(str(a.type.plain), 'None')}" for a in required)
    return f"- name: {entry}\n  samples: {values or repr('')}\n  doc: Under test.\n"


def table_with(entry: str = "", **options: object) -> Table:
    """The small table, and one more family with an entry whose `samples` and `doc` are filled in."""
    if entry:
        entry = f"loss:\n{complete(entry)}"
    return load_table(OPS + entry, **options)  # type: ignore[arg-type]


def op_with(entry: str, **options: object) -> Op:
    return table_with(entry, **options).ops[-1]


def formula(text: str, signature: str = "f(Tensor self, Tensor other) -> Tensor", variant: int = 0) -> Formula:
    """`text` as the formula of the last tensor argument of `signature`."""
    arguments = Signature.parse(signature).arguments
    plain = ("Tensor", "Tensor?", "Tensor[]", "Tensor|Scalar")
    tensors = [a.name for a in arguments if str(a.type) in plain]
    others = "".join(f"  {name}: non_differentiable\n" for name in tensors[:-1])
    read = ", ".join(a.name for a in arguments)
    op = op_with(
        f"{signature}\n  forward: array(np.zeros(({read})))\n  {tensors[-1]}: {_quoted(text)}\n{others.rstrip()}"
    )
    backward = op.variants[variant].backward
    assert backward is not None
    return backward.gradients[0].formula


def _quoted(text: str) -> str:
    """As YAML wants a text that begins with a bracket."""
    return f'"{text}"' if text.startswith("[") else text


def show(expr: Expr) -> str:
    """The tree as text: every operator that was resolved shows the C entry."""
    match expr:
        case Name(name=name):
            return name
        case Gradient(index=index):
            return f"grad{index}"
        case Gradients():
            return "grads"
        case IsUndefined(index=index):
            return f"grad{index}_is_undefined"
        case IsWanted(input=name):
            return f"{name}_is_wanted"
        case RunFact(fact=fact):
            return fact
        case Literal(value=value):
            return repr(value)
        case Attribute():
            return expr.saved_name
        case AttributeOf(value=value, attribute=attribute):
            return f"{show(value)}.{attribute}"
        case Operator(resolved="", symbol=symbol, operands=operands):
            return (
                f"({f' {symbol} '.join(map(show, operands))})" if len(operands) > 1 else f"{symbol} {show(*operands)}"
            )
        case Operator(resolved=resolved, resolved_arguments=arguments):
            return f"{resolved}({', '.join(map(show, arguments))})"
        case Call(c_entry=c_entry, function=function, arguments=arguments):
            return f"{c_entry or function}({', '.join(map(show, arguments))})"
        case Conditional(test=test, body=body, orelse=orelse):
            return f"({show(body)} if {show(test)} else {show(orelse)})"
        case Subscript(value=value, index=index):
            return f"{show(value)}[{show(index)}]"
        case Slice(start=start, stop=stop, step=step):
            ends = (start, stop, step) if step else (start, stop)
            return ":".join("" if end is None else show(end) for end in ends)
        case Variable(name=name):
            return name
        case Comprehension(item=item, loops=loops):
            return f"[{show(item)} {' '.join(map(show_loop, loops))}]"
        case TupleExpr(items=items):
            return f"[{', '.join(map(show, items))}]"
    raise AssertionError(expr)


def show_loop(loop: Loop) -> str:
    tests = "".join(f" if {show(test)}" for test in loop.tests)
    return f"for {show(loop.target)} in {show(loop.source)}{tests}"
