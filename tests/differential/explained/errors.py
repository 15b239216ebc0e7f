"""Calls that one library refuses, or refuses for another mistake."""

from __future__ import annotations

import re

from ..compare import Difference
from ..program import STEP
from .explanation import Explanation
from .questions import called_before, into_out, made_of, of_call, only_pytorch_refuses, only_we_refuse


def two_mistakes_of_complex(difference: Difference) -> bool:
    """A complex tensor where there is no order, and a dimension that does not exist or has no elements."""
    return (
        difference.aspect == "error type"
        and "not defined for complex numbers" in difference.ours
        and difference.theirs.startswith("IndexError")
    )


def of_bool_powers(difference: Difference) -> bool:
    return only_we_refuse('"pow" not implemented for .bool')(difference)


def nothing_of_integers(difference: Difference) -> bool:
    """softmax of an integer tensor, which in PyTorch is not looked at when there are no elements."""
    return only_we_refuse("softmax.* not defined for")(difference) and any(
        0 in x.shape or not x.shape for x in difference.operands
    )


def another_mistake(difference: Difference) -> bool:
    """Both refuse, and one of them because of the graph or of `out`, where the other one looks at the values first."""
    texts = f"{difference.ours} {difference.theirs}"
    if "cannot be converted to type" in str(difference.theirs):  # a number that does not fit, at a wrong index
        return difference.aspect == "error type" and difference.ours.startswith("IndexError")
    if difference.step.call.endswith("cumsum_") and "Bad in-place call" in str(difference.ours):
        return difference.aspect == "error type" and difference.theirs.startswith("IndexError")
    graph = "leaf Variable|automatic differentiation|inference|no_grad mode|out=|out has|resize|desired output type"
    graph += "|refers? to a single memory location|is a view and is being modified inplace"
    out = "only supports bool tensor for result|Expected the dtype for input and out"
    return difference.aspect == "error type" and bool(re.search(f"{graph}|{out}", texts))


def unknown_argument(difference: Difference) -> bool:
    """PyTorch parses arguments before anything else; an ill-typed call of an ill-typed tensor has two mistakes."""
    return difference.aspect == "error type" and bool(
        re.match(r"TypeError.*(argument|invalid combination|unexpected keyword)", str(difference.theirs))
    )


def index_of_no_kind(difference: Difference) -> bool:
    """A text or a float in brackets."""
    return difference.aspect == "error type" and "valid indices" in difference.ours


def reaches_floor_division(difference: Difference) -> bool:
    """A backward from what a floor division has given, which in PyTorch has no derivative."""
    steps = difference.history
    divided = [step for step in steps if re.search("floor_divide|//", step.call)]
    results = {name for step in divided for name in (step.gives, *STEP.findall(step.args[0]))}
    return difference.aspect in ("gradient", "order of hooks", "hook") and bool(
        difference.step.uses() & made_of(steps, results)
    )


def absent_in_pytorch(difference: Difference) -> bool:
    """The op that is called is no attribute of PyTorch's module or tensor."""
    found = re.match(r"AttributeError: .*(module|'Tensor') .*has no attribute '(\w+)'", str(difference.theirs))
    return found is not None and difference.aspect.startswith("error") and found[2] in difference.step.call


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
            r"tau.shape\[-1\] must be equal", "pivots should be a Tensor of scalar type", "LU_pivots is expected",
            "to be true, but got false", "view size is not compatible", "to a 0-dim tensor",
            "tensor has no dimensions", "takes from 1 to 0 positional", "encountered for isin",
            "dtype should be real for real inputs", "INTERNAL ASSERT FAILED", "tensor does not have a device",
            "bias type .* should be the same", "expected scalar type", "shape '.*' is invalid for input",
            "could not infer output dtype", "but the operation's result requires dtype",
            "not yet implemented for tensors with different dtypes", r"mixed dtype \(CPU\)",
            "must have the same dtype, but got", "last dimension with stride 1", "stride divisible by 2",
            "storage_offset divisible by 2",
        )(d)
        or into_out(
            "non-boolean outputs", "output tensor's dtype is wrong", "should have the same dtype",
            "have the same dtype, but got", "out tensor to have scalar type", "must be of same type as input",
            "expected scalar_type", "dtype of out", "expects (mantissa|exponent) to have dtype",
            "Expected the output tensor to have dtype",
        )(d),
    ),
    Explanation(
        "derivative only here",
        "PyTorch has not implemented the derivative of an op.",
        ("accepted_calls.md", "**More calls are accepted than in PyTorch.**"),
        lambda d: only_pytorch_refuses("derivative for .* is not implemented")(d)
        or reaches_floor_division(d),
    ),
    Explanation(
        "a source larger than its index",
        "PyTorch's backward gives a gradient of the index's shape, and refuses it.",
        ("accepted_calls.md", "**The source of `scatter` may be larger than the index.**"),
        lambda d: only_pytorch_refuses("Scatter.* returned an invalid gradient")(d)
        or (called_before(d, "scatter") and only_pytorch_refuses("CopySlices returned an invalid gradient")(d)),
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
        "parts of numbers that are not complex",
        "An exception that is an AttributeError too, as Python wants it of a property that is not there.",
        ("errors.md", "**One error per call.**"),
        lambda d: of_call("imag", aspects=("error type",))(d) and str(d.ours).startswith("NoImaginaryPart"),
    ),
    Explanation(
        "losses of complex numbers",
        "PyTorch computes what has no meaning as a loss.",
        ("accepted_calls.md", "**Some calls of PyTorch are refused.**"),
        lambda d: only_we_refuse("(_loss|cross_entropy).*not defined for complex numbers")(d)
        or (of_call("_loss", "cross_entropy", aspects=("error type",))(d) and "not defined for" in str(d.ours)),
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
        and re.search(
            "only supports boolean masks|tensors used as indices must be|dtype int64 for index", str(d.theirs)
        ) is not None
        and any("saved_hooks" in step.source() for step in d.history),
    ),
    Explanation(
        "negative powers of integers",
        "PyTorch gives zero, one or minus one.",
        ("dtypes.md", "An integer to a negative integer power"),
        lambda d: only_we_refuse("Integers to negative integer powers")(d)
        or (only_pytorch_refuses("Integers to negative integer powers")(d) and any(0 in x.shape for x in d.operands)),
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
        "one value of several dimensions under a mask",
        "PyTorch's index_put takes it for a number.",
        ("dtypes.md", "`index_put` of one value under a mask"),
        lambda d: of_call("index_put", aspects=("error",))(d)
        and only_we_refuse(r"values of size \[1(, 1)+\] cannot be broadcast")(d),
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
