"""Functions that programs call besides the library `lib`; a printed script contains this file."""

import contextlib

import numpy as np

import gradsmith as lib

inf, nan = float("inf"), float("nan")
nodes = {}  # label of a hook on a node -> name of the node
log = []  # what hooks saw, in order: (label, tensor)


def make(numbers, dtype, shape, layout="rows", seed=0, requires_grad=False):
    """A tensor that is no view, of numbers drawn from a seed, or of those given, in some layout."""
    values = numbers_of(numbers, dtype, shape, np.random.default_rng(seed))
    tensor = lib.from_numpy(laid_out(values, layout))
    # A clone has memory that PyTorch can resize.
    return (tensor.clone() if layout == "rows" else tensor).requires_grad_(requires_grad)


def numbers_of(numbers, dtype, shape, random):
    if not isinstance(numbers, str):
        return np.array(numbers, dtype).reshape(shape)
    if numbers == "special":
        values = random.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, 1e30, 1e-30], shape)
    elif numbers == "small":
        values = random.integers(-3, 4, shape)
    elif numbers.startswith("below"):
        values = random.integers(0, int(numbers.split()[1]), shape)
    else:
        values = random.standard_normal(shape) * 1.5
        values = np.exp(values) if numbers == "positive" else values
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array(values > 0)
    if kind == "u":
        values = np.abs(np.nan_to_num(values, nan=0, posinf=3, neginf=-3) % 100)
    elif kind == "i":
        values = np.nan_to_num(values, nan=0, posinf=3, neginf=-3) % 100
    elif kind == "c":
        values = values + 1j * random.standard_normal(shape)
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


def laid_out(values, layout):
    """The same numbers with other strides."""
    if layout == "columns":
        return np.array(values.T, order="C").T
    if layout == "every other":
        memory = np.zeros((*values.shape[:-1], 2 * values.shape[-1]) if values.ndim else (2,), values.dtype)
        part = memory[..., ::2] if values.ndim else memory[0, ...]
    elif layout == "offset":
        memory = np.zeros(values.size + 3, values.dtype)
        part = memory[3:].reshape(values.shape)
    elif layout == "expanded" and values.ndim and values.shape[0]:
        row = np.array(values[:1])
        return np.lib.stride_tricks.as_strided(row, values.shape, (0, *row.strides[1:]))
    else:
        return np.array(values, order="C")
    part[...] = values
    return part


def note(label, *tensors):
    log.extend((label, None if t is None else t.detach().clone()) for t in tensors)


def hook(tensor, label, factor=None):
    def called(grad):
        note(label, grad)
        return None if factor is None or grad is None else grad * factor

    tensor.register_hook(called)


def node_hook(tensor, label, factor=None):
    def called(inputs, outputs):
        note(label, *[g for g in (*inputs, *outputs) if g is not None])
        return None if factor is None else tuple(None if g is None else g * factor for g in inputs)

    nodes[label] = tensor.grad_fn.name().rstrip("0123456789")
    tensor.grad_fn.register_hook(called)


def node_prehook(tensor, label, factor=None):
    def called(outputs):
        note(label, *[g for g in outputs if g is not None])
        return None if factor is None else tuple(None if g is None else g * factor for g in outputs)

    nodes[label] = tensor.grad_fn.name().rstrip("0123456789")
    tensor.grad_fn.register_prehook(called)


def accumulate_hook(tensor, label):
    tensor.register_post_accumulate_grad_hook(lambda leaf: note(label, leaf.grad))


@contextlib.contextmanager
def saved_hooks(factor):
    """Saved tensors are kept multiplied, and given back as they were."""
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * factor, lambda t: t / factor):
        yield


def enter_level():
    lib.autograd.forward_ad.enter_dual_level()


def parts(dual):
    return tuple(lib.autograd.forward_ad.unpack_dual(dual))


class Cube(lib.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x

    @staticmethod
    def jvp(ctx, tangent):
        return None if tangent is None else tangent * 2


class Product(lib.autograd.Function):
    """Forward without a context, gradients only where they are wanted; the operands are of one shape."""

    @staticmethod
    def forward(x, y, factor):
        return x * y * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.factor = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        wants = ctx.needs_input_grad
        return grad * y * ctx.factor if wants[0] else None, grad * x * ctx.factor if wants[1] else None, None


class Doubled(lib.autograd.Function):
    """Changes its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Both(lib.autograd.Function):
    """Two results, one of which has no gradient; undefined gradients stay None."""

    @staticmethod
    def forward(ctx, x):
        sign = (x > 0).to(x.dtype)
        ctx.mark_non_differentiable(sign)
        ctx.set_materialize_grads(False)
        return x * 2, sign, x + 1

    @staticmethod
    def backward(ctx, first, sign, last):
        if first is None:
            return last
        return first * 2 if last is None else first * 2 + last


class Viewed(lib.autograd.Function):
    """Returns a view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.view(x.shape)

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Once(lib.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @lib.autograd.function.once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()


def facts(tensor):
    names = ("dtype", "shape", "requires_grad", "is_leaf", "_version")
    return ", ".join([*(f"{n}={getattr(tensor, n)}" for n in names), f"view={tensor._is_view()}", str(tensor.stride())])


def show(name, value):
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], lib.Tensor):
        for number, part in enumerate(value):
            show(f"{name}[{number}]", part)
    elif isinstance(value, lib.Tensor):
        print(name, facts(value), value.detach().tolist())
    else:
        print(name, value)


def show_end(values, names):
    print("---- at the end")
    for name in names:
        if name in values:
            show(name, values[name])
            if isinstance(values[name], lib.Tensor) and (values[name].is_leaf or values[name].retains_grad):
                print(f"{name}.grad", values[name].grad)
    for label, tensor in log:
        print(label, None if tensor is None else tensor.tolist())
