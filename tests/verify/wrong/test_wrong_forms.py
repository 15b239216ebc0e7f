"""An op that is wrong in one form or one use only, which no entry can say: it is exchanged for a function that is."""

import numpy as np

import gradsmith as gs
from gradsmith.autograd import Function
from gradsmith.generated.op_table import OPS
from gradsmith.verify import prove
from gradsmith.verify.checks import forms


class Exchanged:
    """gradsmith with another function in place of one op."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def __getattr__(self, name):
        return self.function if name == self.name else getattr(gs, name)


def row_of(base):
    return next(row for row in OPS if row.base == base)


def subjects(row, function):
    return {failure.subject for failure in prove(row, Exchanged(row.base, function)).failures}


def test_wrong_out():
    def tanh(x, out=None):
        return gs.tanh(x) if out is None else gs.tanh(x * 1.001, out=out)

    assert subjects(row_of("tanh"), tanh) == {"value written into out="}


def row_named(name):
    return next(row for row in OPS if row.name.startswith(name))


def test_several_out():
    def max_into_copies(x, dim, keepdim=False, out=None):
        return gs.max(x, dim, keepdim) if out is None else gs.max(x, dim, keepdim, out=[o.clone() for o in out])

    def exchanged_max(x, dim, keepdim=False, out=None):
        result = gs.max(x, dim, keepdim, out=out)
        return result if out is None else type(result)(*reversed(result))

    def max_that_takes_all(x, dim, keepdim=False, out=None):
        return gs.max(x if out is None else x.detach(), dim, keepdim, out=out)

    row = row_named("max.dim(")
    assert subjects(row, gs.max) == set()
    assert subjects(row, max_into_copies) == {"the form with out=", "value written into out="}
    assert subjects(row, exchanged_max) == {"the form with out="}
    assert subjects(row, max_that_takes_all) == {"out= beside an input that requires grad"}


def wrong_copies(function):
    gs_with_copy = Exchanged("t_copy", function)
    return {failure.subject for failure in prove(row_of("t"), gs_with_copy).failures}


def test_copy_that_is_a_view():
    assert wrong_copies(gs.t) == {"the memory of a copy"}


def test_copy_with_a_wrong_gradient():
    assert wrong_copies(lambda x: gs.t_copy(2 * x) - gs.t_copy(x).detach()) == {"gradient of a copy"}


def test_out_that_is_another_tensor():
    def tanh(x, out=None):
        return gs.tanh(x) if out is None else gs.tanh(x, out=out).view(out.shape)

    assert subjects(row_of("tanh"), tanh) == {"the form with out="}


def test_out_that_takes_what_requires_grad():
    def tanh(x, out=None):
        return gs.tanh(x) if out is None else gs.tanh(x.detach(), out=out)

    assert subjects(row_of("tanh"), tanh) == {"out= beside an input that requires grad"}


def test_wrong_plain_form_disagrees_with_the_one_in_place():
    assert "value in place" in subjects(row_of("tanh"), lambda x, out=None: gs.tanh(x * 1.001))


def test_wrong_in_large_arrays():
    def sin(x, out=None):
        result = gs.sin(x) if out is None else gs.sin(x, out=out)
        return gs.where(gs.arange(x.numel()) < 50_000, result, result * 1.01) if x.numel() > 50_000 else result

    assert subjects(row_of("sin"), sin) == {"value or gradient"}


def test_op_that_raises():
    def sin(x, out=None):
        raise TypeError("no")

    assert any("raised TypeError: no" in f.problem for f in prove(row_of("sin"), Exchanged("sin", sin)).failures)


def test_op_that_is_wrong_when_only_some_inputs_want_a_gradient():
    def mul(x, other, out=None):
        if isinstance(other, gs.Tensor) and not other.requires_grad and x.requires_grad:
            return gs.mul(x, other * 1.001)
        return gs.mul(x, other) if out is None else gs.mul(x, other, out=out)

    assert "gradient of 'self' when 1 of 2 inputs require it" in subjects(row_of("mul"), mul)


def test_op_that_takes_an_unused_result_for_something_else_than_zero():
    def unbind(x, dim=0):
        used = []
        whole = x * 1
        parts = gs.unbind(whole, dim)
        if whole.requires_grad:
            for part in parts:
                part.register_hook(used.append)
            whole.register_hook(lambda gradient: gradient if len(used) == len(parts) else gradient * 1.01)
        return parts

    assert "derivative 0 when only the results [0] are used" in subjects(row_of("unbind"), unbind)


def test_op_that_gives_nan():
    assert subjects(row_of("sin"), lambda x, out=None: gs.sin(x) * np.nan)


class SinOfAnAlias(Function):
    """Keeps its input without the version counter."""

    @staticmethod
    def forward(ctx, x):
        ctx.array = x.numpy()
        return gs.sin(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * np.cos(ctx.array)


def test_op_that_does_not_notice_what_is_overwritten():
    found = prove(row_of("sin"), Exchanged("sin", lambda x, out=None: SinOfAnAlias.apply(x))).failures
    said = [f.problem for f in found if f.subject == "a gradient that needs 'self'"]
    assert said and all("overwritten before backward, and no error says so" in text for text in said)


def test_argument_that_is_read_after_its_memory_is_written(monkeypatch):
    def write_one_by_one(setting, tensors):
        x, other = tensors["self"], gs.as_tensor(tensors["other"]).expand(setting.values["self"].shape)
        if x.requires_grad or other.requires_grad:
            return x.mul_(other)
        for place in np.ndindex(tuple(x.shape)):
            x[place] = x[place] * other[place]
        return x

    monkeypatch.setattr(forms, "write", write_one_by_one)
    subjects = {failure.subject for failure in prove(row_of("mul")).failures}
    assert "value in place, where 'other' is in that memory" in subjects
