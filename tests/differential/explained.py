"""Differences that are deliberate: a predicate each, why it is so, and where the documentation says it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .compare import Difference
from .overlaps import out_among_inputs, overlapping_operands, reads_what_it_writes, several_in_one_place
from .predicates import (
    COMPARES,
    WRITTEN,
    absent_in_pytorch,
    another_mistake,
    another_tensor_than_given,
    base_came_to_require_grad,
    beside,
    called_before,
    cancelled_deviation,
    cancelled_on_arrival,
    cancelled_variance,
    changed_what_was_asked_for,
    compared_in_place,
    complex_infinity,
    computed_in_single,
    conjugated_view,
    converted_target,
    extreme_before,
    far_smaller_divisor,
    found_unused_after_the_run,
    hook_of_another_shape,
    hook_of_what_was_asked_for,
    hook_on_node_of_parts,
    index_of_no_kind,
    infinite_variance,
    integer_with_history,
    into_out,
    leads_nowhere,
    made_by,
    multiplied_halves,
    negated_gradient,
    not_resized,
    nothing_of_integers,
    of_bool_powers,
    of_call,
    of_dual_number,
    of_infinity,
    only_pytorch_refuses,
    only_undefined_gradients,
    only_we_refuse,
    order_of_leaves,
    overflowing_sinh,
    reaches_floor_division,
    reaches_once_differentiable,
    resized_view,
    result_of,
    second_power_of_zero,
    several_zeros,
    squares_beyond_float32,
    strides_of_gradient,
    strides_of_ones,
    tangent_at_nan,
    two_mistakes_of_complex,
    unknown_argument,
    view_of_inference,
    write_through_expanded,
    written_by_accumulation,
    written_gradient,
)
from .program import STEP


class Explanation(NamedTuple):
    name: str
    reason: str
    documented: tuple[str, str]  # a page of docs/internals/decisions, and what it says there
    applies: Callable[[Difference], bool]


EXPLANATIONS = (
    Explanation(
        "only here",
        "An op, or a form of one, that PyTorch does not have.",
        ("accepted_calls.md", "**More calls are accepted than in PyTorch.**"),
        absent_in_pytorch,
    ),
    Explanation(
        "more is taken",
        "Dtypes that PyTorch's kernel lacks, numbers in the place of tensors, lists in the place of index tensors.",
        ("accepted_calls.md", "**More calls are accepted than in PyTorch.**"),
        lambda d: only_pytorch_refuses(
            "not implemented for", "must be Tensor, not", "must be int, not tuple", "invalid combination of arguments",
            "takes no (keyword )?arguments", "takes 1 positional", "unexpected keyword",
            "but got (list|slice|NoneType|ellipsis|int)",
            "does not support automatic", "does not support (bool|complex) input", "operator, on a bool tensor",
            "must be a matrix", "doesn't match the broadcast shape", "Boolean inputs not supported",
            "not differentiable with respect to argument", "Autograd not support dtype", "Unsupported dtype",
            "isFloatingType",
            "forward AD with .* that does not support it",
            "masked_fill_ only supports boolean masks, but got mask with dtype unsigned",
        )(d)
        or into_out("could not infer output dtype")(d),
    ),
    Explanation(
        "derivative only here",
        "PyTorch has not implemented the derivative of an op.",
        ("accepted_calls.md", "**More calls are accepted than in PyTorch.**"),
        lambda d: only_pytorch_refuses("derivative for .* is not implemented")(d)
        or reaches_floor_division(d),
    ),
    Explanation(
        "out is not resized",
        "PyTorch resizes an `out` that has elements, with a warning.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        not_resized,
    ),
    Explanation(
        "out takes conversions",
        "The result is converted to the dtype of `out`, as promoting ops do it; memory of an array can be exchanged.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        into_out(
            "Expected out tensor to have dtype", "Found dtype", "resize storage", "got .* instead", "Expected out type",
            "dtype for input and out to match", "self and result must have the same", "result dtype .* does not match",
            "input tensors must have the same dtype",
        ),
    ),
    Explanation(
        "dual numbers are aliases",
        "In PyTorch the dual number and the primal are views of the tensor.",
        ("forward_mode.md", "**Dual numbers are aliases, not views.**"),
        of_dual_number,
    ),
    Explanation(
        "gradients are tensors of their own",
        "PyTorch gives a gradient that it was given, and adds to it where it became the gradient of a leaf.",
        ("gradients.md", "**Gradients passed by the caller are never modified.**"),
        lambda d: written_gradient(d) or another_tensor_than_given(d) or written_by_accumulation(d),
    ),
    Explanation(
        "unused inputs are found first",
        "An input that no path leads to is reported before anything runs.",
        ("errors.md", "**Refused means unchanged.**"),
        found_unused_after_the_run,
    ),
    Explanation(
        "a view that out resizes",
        "It gets memory of its own.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        resized_view,
    ),
    Explanation(
        "leaves take gradients as they arrive",
        "A leaf with hooks runs as soon as it is complete.",
        ("engine_order.md", "**Leaves take gradients as they arrive.**"),
        lambda d: order_of_leaves(d) or cancelled_on_arrival(d),
    ),
    Explanation(
        "layout of gradients, and of dimensions of size one",
        "A gradient lies in memory as it was computed, and a dimension of size one has no say.",
        ("order_of_dimensions.md", "**Results keep the order of dimensions.**"),
        lambda d: strides_of_gradient(d) or strides_of_ones(d),
    ),
    Explanation(
        "a shape that changes under a graph",
        "PyTorch's hooks see a gradient of the shape that the graph has recorded.",
        ("gradients.md", "**New `.data` also applies to existing graphs.**"),
        hook_of_another_shape,
    ),
    Explanation(
        "writes through views of expanded tensors",
        "PyTorch's backward of such a write refuses; here the gradient follows from the geometry.",
        ("views.md", "**A written view is described by its geometry.**"),
        write_through_expanded,
    ),
    Explanation(
        "comparisons in place",
        "PyTorch gives the result a history whose gradients are zeros.",
        ("writes.md", "**Ops without a derivative do not write to tensors with a graph.**"),
        compared_in_place,
    ),
    Explanation(
        "one node for all parts",
        "PyTorch's split_copy and unbind_copy are nodes of their own; here each part is a copy of a view.",
        ("views.md", "**Copies of parts have one node each.**"),
        hook_on_node_of_parts,
    ),
    Explanation(
        "what is not saved may be changed",
        "PyTorch keeps a tensor of which the gradient reads the shape alone, or nothing.",
        ("saved_values.md", "**Saved values have a cost, and the author decides.**"),
        lambda d: (called_before(d, "masked_select", "gather", "sgn", "sign", "index_add", "pow", "**")
        and only_pytorch_refuses("needed for gradient computation has been modified by an inplace operation")(d))
        or negated_gradient(d),
    ),
    Explanation(
        "what a gradient does not read may be changed",
        "PyTorch unpacks all that a node has saved, and saves a target before it is converted.",
        ("saved_values.md", "**Only what a gradient reads is checked.**"),
        lambda d: changed_what_was_asked_for(d) or converted_target(d),
    ),
    Explanation(
        "a complex logsumexp into real numbers",
        "PyTorch takes the real part before the logarithm.",
        ("writes.md", "**A complex result is not written to a real `out`.**"),
        lambda d: of_call("logsumexp", aspects=("error",))(d) and only_we_refuse("result type complex.* output")(d),
    ),
    Explanation(
        "the largest values of sinh",
        "PyTorch's vectors overflow where exp does.",
        ("special_values.md", "**`sinh` reaches the largest number.**"),
        overflowing_sinh,
    ),
    Explanation(
        "a number over a tensor",
        "PyTorch divides by multiplying with the reciprocal, and keeps that in the place of the tensor.",
        ("numbers.md", "**A number over a tensor keeps the tensor.**"),
        lambda d: (only_we_refuse("saved by DivBackward0")(d)
        or only_pytorch_refuses("backward through the graph a second time")(d))
        and any(step.call == "{0} / {1}" and not STEP.match(step.args[0]) for step in d.history),
    ),
    Explanation(
        "out without a derivative",
        "PyTorch refuses `out` beside an operand that requires grad also where the result is of integers.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        lambda d: re.search("int|bool", d.step.kwargs.get("dtype", "")) is not None
        and only_pytorch_refuses("functions with out=... arguments don't support automatic differentiation")(d),
    ),
    Explanation(
        "where nothing lies",
        "The offset of a view without elements is NumPy's.",
        ("dtypes.md", "**Accepted dtypes and numbers differ from PyTorch's.**"),
        lambda d: d.aspect == "plain value" and "storage_offset" in d.step.call
        and all(0 in x.shape for x in d.operands),
    ),
    Explanation(
        "a view belongs to its base",
        "The base came to require grad after the view was made.",
        ("views.md", "**Views follow their base, even when it requires grad later.**"),
        base_came_to_require_grad,
    ),
    Explanation(
        "one of several views keeps its history",
        "PyTorch refuses to give a new one.",
        ("views.md", "**One of several views keeps its history when the base is written.**"),
        lambda d: "refused" in str(d.theirs) or only_pytorch_refuses("function that returns multiple views")(d),
    ),
    Explanation(
        "a source larger than its index",
        "PyTorch's backward gives a gradient of the index's shape, and refuses it.",
        ("accepted_calls.md", "**The source of `scatter` may be larger than the index.**"),
        lambda d: only_pytorch_refuses("Scatter.* returned an invalid gradient")(d)
        or (called_before(d, "scatter") and only_pytorch_refuses("CopySlices returned an invalid gradient")(d)),
    ),
    Explanation(
        "gradients of inference mode",
        "PyTorch cannot add to a `.grad` that was made in inference mode.",
        ("gradients.md", "**Gradients passed by the caller are never modified.**"),
        lambda d: ("backward" in d.step.call and only_pytorch_refuses("Inplace update to inference tensor")(d))
        or view_of_inference(d),
    ),
    Explanation(
        "a copy of a view",
        "PyTorch's view_copy also copies where `view` refuses.",
        ("accepted_calls.md", "**Names of ops tell whether memory is shared.**"),
        lambda d: of_call("view_copy", aspects=("error",))(d) and only_we_refuse("cannot be seen as size")(d),
    ),
    Explanation(
        "label_smoothing between 0 and 1",
        "PyTorch ignores a negative one.",
        ("accepted_calls.md", "**Smoothing is between 0 and 1.**"),
        only_we_refuse("label_smoothing must be between"),
    ),
    Explanation(
        "numbers in tensors are tensors",
        "PyTorch takes a tensor without dimensions for a Python number where an argument may be one.",
        ("numbers.md", "**Tensors are never treated as numbers.**"),
        lambda d: (of_call("clamp", "clip", "max", "min", aspects=("dtype", "error"))(d)
        and any(x.shape == () for x in d.operands))
        or (only_we_refuse("saved by Clamp")(d) and called_before(d, "clamp", "clip")),
    ),
    Explanation(
        "the operator is the op",
        "PyTorch's `~` has a TypeError of its own.",
        ("errors.md", "**One error per call.**"),
        lambda d: of_call("~", aspects=("error type",))(d)
        and str(d.ours).startswith("NotImplementedError") and str(d.theirs).startswith("TypeError"),
    ),
    Explanation(
        "an index is refused as an index",
        "PyTorch's index_select has a RuntimeError for tensors without dimensions, its narrow_copy for a wrong one.",
        ("errors.md", "**One error per call.**"),
        lambda d: of_call("index_select", "index_add", "narrow_copy", aspects=("error type",))(d),
    ),
    Explanation(
        "a gradient has the shape of its tensor",
        "PyTorch's gradient of a real sgn is a number.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: d.aspect in ("shape", "strides") and called_before(d, "sgn") and "grad" in d.where,
    ),
    Explanation(
        "undefined gradients",
        "PyTorch calls the hooks of a tensor with None.",
        ("engine_order.md", "**Undefined gradients do not call hooks of tensors.**"),
        only_undefined_gradients,
    ),
    Explanation(
        "the variance over no dimension",
        "PyTorch's gradient counts one element where the value counts all.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: d.aspect in ("gradient", "value", "hook", "requires_grad") and any(
            re.search(r"\.(var|std)$", step.call) and "()" in (*step.args, *step.kwargs.values())
            for step in (*d.history, d.step)
        ),
    ),
    Explanation(
        "differentiable once",
        "PyTorch does not see that a gradient depends on an input through a saved tensor alone.",
        ("custom_functions.md", "**`once_differentiable` looks at saved tensors too.**"),
        reaches_once_differentiable,
    ),
    Explanation(
        "the gradient of a broadcast write",
        "A CopySlices node adds up what was broadcast before its hooks run.",
        ("generated_text.md", "**Broadcasting is undone in one place.**"),
        lambda d: d.aspect == "shape" and d.where.startswith("hook") and called_before(d, "node_hook"),
    ),
    Explanation(
        "numbers are compared as numbers",
        "PyTorch converts a negative number to an unsigned dtype before it compares.",
        ("numbers.md", "**A comparison with a number compares numbers.**"),
        lambda d: d.aspect == "value"
        and any(x.dtype.startswith("uint") for x in d.operands)
        and bool(COMPARES(d.step.call)),
    ),
    Explanation(
        "complex infinities",
        "Products of infinite complex numbers have NaN in parts that depend on how the compiler writes a product.",
        ("special_values.md", "**Infinite complex numbers.**"),
        complex_infinity,
    ),
    Explanation(
        "limits",
        "PyTorch multiplies zero by infinity where the limit is a number.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: of_infinity(d)
        and (
            called_before(d, "gelu", "silu", "softplus")
            or ((d.aspect != "value" or "grad" in d.step.call) and extreme_before(d))
        ),
    ),
    Explanation(
        "the tangent of a NaN",
        "PyTorch's is that of the tensor that is no NaN, while its gradient goes to the one that is.",
        ("special_values.md", "The tangent of `maximum` where one operand is NaN"),
        tangent_at_nan,
    ),
    Explanation(
        "powers of zero, twice",
        "PyTorch multiplies zero by the logarithm of zero.",
        ("special_values.md", "The second gradient of a power of zero"),
        second_power_of_zero,
    ),
    Explanation(
        "gradients of sgn",
        "PyTorch has a tensor of zeros without memory for them, which some of its formulas cannot take.",
        ("special_values.md", "**Limits are values.**"),
        lambda d: called_before(d, "sgn", "sign") and only_pytorch_refuses("ZeroTensors are immutable")(d),
    ),
    Explanation(
        "several elements in one place",
        "PyTorch computes them one after the other, each from what the last one has left.",
        ("writes.md", "**Elements in one place are computed once.**"),
        several_in_one_place,
    ),
    Explanation(
        "no gradient of some of several elements in one place",
        "PyTorch's gradient is that of one of them.",
        ("writes.md", "**Elements in one place are computed once.**"),
        only_we_refuse("several elements of the written-to tensor lie in one place"),
    ),
    Explanation(
        "the diagonal of an expanded tensor",
        "PyTorch's is a view.",
        ("views.md", "**The diagonal of an expanded tensor is a copy.**"),
        lambda d: of_call("einsum", aspects=("is_view",))(d) and any(0 in x.strides for x in d.operands),
    ),
    Explanation(
        "no two writes to one place",
        "PyTorch checks some writes to expanded memory and not others.",
        ("writes.md", "**Overlapping elements are not written.**"),
        only_we_refuse("more than one element of the written-to tensor"),
    ),
    Explanation(
        "no write that a graph does not see",
        "PyTorch lets ops without a derivative write over tensors that require grad.",
        ("writes.md", "**Ops without a derivative do not write to tensors with a graph.**"),
        lambda d: only_we_refuse("has no derivative, so it cannot", "leaf Variable .* (logical|bitwise)_")(d)
        or only_we_refuse("modified inplace by (logical|bitwise)_")(d)
        or only_we_refuse("don't support automatic differentiation")(d),
    ),
    Explanation(
        "copies are copies",
        "PyTorch's conj of a complex tensor is a view of it, and its detach_copy has a history.",
        ("accepted_calls.md", "**Names of ops tell whether memory is shared.**"),
        lambda d: (d.aspect == "is_view" and made_by(d, "conj") and d.theirs)
        or (d.aspect == "strides" and (made_by(d, "conj") or beside(d, "conj")))
        or (beside(d, "conj") and (d.step.writes() or d.aspect == "version") and d.aspect in (*WRITTEN, "identity"))
        or (beside(d, "conj") and d.aspect in ("identity", "is_view"))
        or of_call("detach_copy", aspects=("requires_grad", "is_leaf", "has_node"))(d)
        or conjugated_view(d),
    ),
    Explanation(
        "integers have no history",
        "A write makes PyTorch's integers require grad.",
        ("writes.md", "**Integers have no history.**"),
        integer_with_history,
    ),
    Explanation(
        "powers with a bool exponent",
        "PyTorch's backward subtracts one from the exponent, and refuses to do that to a bool.",
        ("accepted_calls.md", "**More calls are accepted than in PyTorch.**"),
        lambda d: called_before(d, "**", "pow") and re.search("grad|backward", d.step.call) is not None
        and only_pytorch_refuses("Subtraction, the `-` operator, with a bool tensor", "unknown ivalue tag 4")(d),
    ),
    Explanation(
        "indices that hooks have converted",
        "A hook on saved tensors gave an index back in another dtype; each library has an exception of its own.",
        ("errors.md", "**One error per call.**"),
        lambda d: d.aspect in ("error", "error type")
        and re.search("only supports boolean masks|tensors used as indices must be", str(d.theirs)) is not None
        and any("saved_hooks" in step.source() for step in d.history),
    ),
    Explanation(
        "one value is written",
        "PyTorch's fill_ takes numbers for an expanded tensor, but no tensor.",
        ("writes.md", "**Overlapping elements are not written.**"),
        lambda d: of_call(".fill_", aspects=("error",))(d) and only_pytorch_refuses("more than one element")(d),
    ),
    Explanation(
        "inputs are read before anything is written",
        "PyTorch refuses most operands that overlap what is written, and reads from what it has written in others.",
        ("dtypes.md", "`a[1:].add_(a[:-1])`"),
        lambda d: overlapping_operands(d) or out_among_inputs(d) or reads_what_it_writes(d),
    ),
    Explanation(
        "converted into out",
        "PyTorch computes in double for an `out` of double.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        computed_in_single,
    ),
    Explanation(
        "gelu into strides",
        "PyTorch's gelu of float32 into an `out` with gaps gives numbers that are no values of gelu.",
        ("writes.md", "**`out=` changes all its tensors or none.**"),
        lambda d: of_call("gelu", aspects=("value",))(d) and "out" in d.step.kwargs,
    ),
    Explanation(
        "the variance of a NaN",
        "PyTorch's gradient is infinite wherever an element is not equal to the mean, as NaN is not.",
        ("dtypes.md", "the variance of one NaN"),
        infinite_variance,
    ),
    Explanation(
        "negative powers of integers",
        "PyTorch gives zero, one or minus one.",
        ("dtypes.md", "An integer to a negative integer power"),
        lambda d: only_we_refuse("Integers to negative integer powers")(d)
        or (only_pytorch_refuses("Integers to negative integer powers")(d) and any(0 in x.shape for x in d.operands)),
    ),
    Explanation(
        "expanded memory is not written by an index",
        "PyTorch does not look for an overlap where the written tensor repeats its elements, or has gaps.",
        ("writes.md", "**Overlapping elements are not written.**"),
        lambda d: only_we_refuse("some elements of the input tensor and of the written-to tensor")(d)
        and any(n > 1 and (step == 0 or x.strides[-1] > 1) for x in d.operands for n, step in zip(x.shape, x.strides)),
    ),
    Explanation(
        "a product of zeros and NaN",
        "PyTorch gives zeros without looking at the other factors.",
        ("dtypes.md", "The gradient of a product of several zeros and a NaN is NaN"),
        several_zeros,
    ),
    Explanation(
        "halves are multiplied in float32",
        "PyTorch rounds after each factor.",
        ("dtypes.md", "`prod` of float16 multiplies in float32"),
        multiplied_halves,
    ),
    Explanation(
        "a bool has no power",
        "PyTorch's pow has shortcuts for the exponents True and False.",
        ("dtypes.md", "A bool tensor has no power"),
        of_bool_powers,
    ),
    Explanation(
        "refused also where there is nothing",
        "PyTorch does not check what it needs for no element.",
        ("dtypes.md", "`index_add` refuses an index out of range also where there is nothing to add"),
        lambda d: nothing_of_integers(d)
        or ((of_call("scatter", aspects=("error",))(d) and only_we_refuse("without overflow")(d))
        and any(0 in x.shape for x in d.operands))
        or (only_we_refuse("index_add.* out of range in dimension", r"m(at)?(m|mul)\(\): expected both operands")(d)
        and any(0 in x.shape for x in d.operands)),
    ),
    Explanation(
        "views of nothing",
        "PyTorch keeps an offset for a view without elements.",
        ("dtypes.md", "and the offset that NumPy\n  gives it"),
        lambda d: any(0 in x.shape for x in d.operands)
        and (
            only_pytorch_refuses("out of bounds for storage")(d)
            or of_call("storage_offset", aspects=("plain value",))(d)
        ),
    ),
    Explanation(
        "truth of fractions",
        "PyTorch's all and any convert to the uint8 of `out` first, which makes zeros of fractions.",
        ("dtypes.md", "are asked for the truth of the numbers themselves"),
        lambda d: of_call("lib.all", "lib.any", aspects=("value",))(d) and d.ours.dtype == np.uint8,
    ),
    Explanation(
        "no sparse tensors",
        "PyTorch's gather can have a sparse gradient.",
        ("dtypes.md", "There are no sparse tensors"),
        only_we_refuse("there are no sparse tensors"),
    ),
    Explanation(
        "the weight of nll_loss is converted",
        "PyTorch wants it in the dtype of the input.",
        ("dtypes.md", "convert `weight` to the dtype of their input"),
        lambda d: of_call("nll_loss", "cross_entropy", aspects=("error",))(d)
        and only_pytorch_refuses("expected scalar type")(d),
    ),
    Explanation(
        "hooks of what was asked for",
        "PyTorch's `grad` gives the gradient before the hooks of the tensor when its node has to run as well.",
        ("gradients.md", "**`grad` returns gradients after the hooks of the tensor.**"),
        hook_of_what_was_asked_for,
    ),
    Explanation(
        "no complex numbers of two halves",
        "PyTorch has complex32.",
        ("dtypes.md", "There is no complex dtype of two float16"),
        lambda d: d.aspect == "dtype" and (d.ours, d.theirs) == ("complex64", "complex32"),
    ),
    Explanation(
        "a class index that was changed",
        "PyTorch has saved a copy of class indices that do not lie by rows.",
        ("dtypes.md", "`nll_loss` saves the class indices themselves"),
        lambda d: only_we_refuse("saved by NllLossBackward0")(d) and called_before(d, "nll_loss", "cross_entropy"),
    ),
    Explanation(
        "detached after it was saved",
        "A custom Function of PyTorch gives the tensor back with its own node for a history.",
        ("saved_values.md", "**Detaching a saved tensor makes backward raise.**"),
        lambda d: only_we_refuse("trying to use a saved tensor that has been detached in-place")(d)
        and called_before(d, ".apply"),
    ),
    Explanation(
        "squares beyond float32",
        "PyTorch's variance of complex64 is infinite.",
        ("dtypes.md", "`std` of complex64 in double"),
        squares_beyond_float32,
    ),
    Explanation(
        "nothing below a view made in no_grad",
        "PyTorch runs the nodes above it, and finds what they saved gone.",
        ("engine_order.md", "**Nodes that lead to no leaf do not run.**"),
        leads_nowhere,
    ),
    Explanation(
        "one value of several dimensions under a mask",
        "PyTorch's index_put takes it for a number.",
        ("dtypes.md", "`index_put` of one value under a mask"),
        lambda d: of_call("index_put", aspects=("error",))(d)
        and only_we_refuse(r"values of size \[1(, 1)+\] cannot be broadcast")(d),
    ),
    Explanation(
        "views inside an op",
        "PyTorch's einsum, linear and nll_loss give views of what they have computed.",
        ("views.md", "**Computed results are not views.**"),
        lambda d: result_of(d, "einsum", "linear", "nll_loss", "cross_entropy")
        and ((d.step.call.endswith("detach_") and only_pytorch_refuses("Can't detach views")(d))
        or only_pytorch_refuses("A view was created in no_grad mode and is being modified inplace")(d)),
    ),
    Explanation(
        "remainders of far larger numbers",
        "PyTorch's vectors give NaN.",
        ("special_values.md", "**Limits are values.**"),
        far_smaller_divisor,
    ),
    Explanation(
        "the variance of large equal numbers",
        "What is left of it is rounding.",
        ("special_values.md", "**A variance is zero up to rounding.**"),
        lambda d: cancelled_variance(d) or cancelled_deviation(d),
    ),
    Explanation(
        "an index of no kind",
        "NumPy's exception, which also names the kinds that there are.",
        ("errors.md", "**One error per call.**"),
        index_of_no_kind,
    ),
    Explanation(
        "another mistake is named",
        "A call with several mistakes is refused for one of them, and the order of the checks is another.",
        ("errors.md", "**One error per call.**"),
        lambda d: another_mistake(d) or unknown_argument(d) or two_mistakes_of_complex(d),
    ),
)  # fmt: skip


def explanation_of(difference: Difference) -> Explanation | None:
    return next((e for e in EXPLANATIONS if e.applies(difference)), None)
