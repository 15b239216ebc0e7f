"""The closed vocabularies of the op table that are not ops: families, ufuncs, intrinsics, attributes.

Signatures are written in the schema language, so that a formula that calls an intrinsic is checked
exactly as one that calls an op.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from .schema_types import Type


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# One module of generated code each.
FAMILIES = (
    "arithmetic",
    "unary",
    "division",
    "bounds",
    "exponential",
    "trigonometric",
    "angles",
    "rounding",
    "logarithms",
    "pairs",
    "floats",
    "complex_numbers",
    "draws",
    "sampling",
    "activation",
    "rectifiers",
    "squashing",
    "comparison",
    "reduce",
    "extremes",
    "order",
    "scan",
    "statistics",
    "probability",
    "shape",
    "joining",
    "stacking",
    "diagonals",
    "rearranging",
    "index",
    "scatter",
    "places",
    "counting",
    "replacing",
    "grouping",
    "distances",
    "without_missing",
    "numpy_names",
    "linalg",
    "products",
    "decompositions",
    "solvers",
    "triangular",
    "lu_factors",
    "least_squares",
    "matrix_equations",
    "matrix_functions",
    "norms",
    "fft",
    "cosine_transforms",
    "signal",
    "sparse",
    "collectives",
    "copy",
    "loss",
    "elementwise_losses",
    "embeddings",
    "probability_losses",
    "margin_losses",
    "similarities",
    "normalization",
    "channels",
    "convolutions",
    "pooling",
    "interpolation",
    "recurrent",
    "gamma_functions",
    "error_functions",
    "information",
    "hypergeometric",
    "bessel",
    "exponential_integrals",
    "polynomials",
    "incomplete",
)

# Families that are imported when one of their ops is first used, so that `import gradsmith` stays quick. Methods of
# their ops are called by way of Python, which is why those of the most frequent ops are not among them. None has the
# name of an op: once imported, the module would hide it.
LAZY_FAMILIES = frozenset(
    {"angles", "complex_numbers", "floats", "pairs", "draws", "sampling", "stacking", "diagonals", "rearranging"}
    | {"counting", "distances", "grouping", "numpy_names", "order", "places", "replacing", "scan", "statistics"}
    | {"without_missing", "rectifiers", "squashing", "elementwise_losses", "embeddings", "convolutions"}
    | {"probability_losses", "margin_losses", "similarities", "normalization", "channels", "pooling"}
    | {"interpolation", "recurrent"}
    | {"activation", "bounds", "extremes", "logarithms", "loss", "probability", "rounding", "trigonometric"}
    | {
        "decompositions",
        "solvers",
        "triangular",
        "lu_factors",
        "least_squares",
        "matrix_equations",
        "matrix_functions",
        "norms",
        "products",
        "fft",
        "cosine_transforms",
        "signal",
        "sparse",
        "collectives",
    }
    | {"gamma_functions", "error_functions", "information", "hypergeometric", "bessel"}
    | {"exponential_integrals", "polynomials", "incomplete"}
)

# Packages of functions, as in PyTorch: an entry or an alias `linalg_det` is ``gradsmith.linalg.det`` to users.
NAMESPACES = ("fft", "linalg", "signal", "special")

# Modules beside those of the families.
FUNCTIONS_MODULE, METHODS_MODULE, DOCSTRINGS_MODULE = "_functions", "_methods", "_docstrings"
TAKEN_MODULES = frozenset({"op_table", "tensor", FUNCTIONS_MODULE, METHODS_MODULE, DOCSTRINGS_MODULE})

# ---- forward: ufunc(name)

_UNARY_UFUNCS = """
    absolute arccos arccosh arcsin arcsinh arctan arctanh bitwise_not cbrt ceil conjugate cos cosh
    deg2rad exp exp2 expm1 fabs floor invert isfinite isinf isnan log log10 log1p log2 logical_not
    negative positive rad2deg reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc
"""
_BINARY_UFUNCS = """
    add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal float_power floor_divide
    fmax fmin fmod gcd greater greater_equal heaviside hypot lcm left_shift less less_equal
    logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum multiply nextafter
    not_equal power remainder right_shift subtract true_divide
"""

# Name of a NumPy ufunc -> how many operands it takes.
UFUNCS: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(words(_UNARY_UFUNCS), 1) | dict.fromkeys(words(_BINARY_UFUNCS), 2)
)

# Ufuncs that can be part of a compiled loop.
LOOP_UFUNCS = words(
    """
    absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_not
    bitwise_or cbrt ceil conjugate copysign cos cosh divide equal exp exp2 expm1 floor greater
    greater_equal hypot invert isnan less less_equal log log10 log1p log2 logical_and logical_not
    logical_or maximum minimum multiply negative not_equal positive power reciprocal rint sign sin
    sinh sqrt square subtract tan tanh true_divide trunc
    """
)

# Differentiable in the complex plane, and real on the real line.
HOLOMORPHIC_UFUNCS = words(
    """
    add arccos arccosh arcsin arcsinh arctan arctanh cos cosh divide exp exp2 expm1 log log10 log1p log2 multiply
    negative positive power reciprocal sin sinh sqrt square subtract tan tanh true_divide
    """
)

# Functions that the emitter of C loops knows besides the ufuncs. An op of such a name can stand in
# a loop whatever its own forward is, and its own forward may say `pointwise(erf(self))`.
INTRINSICS = """
    conj(Tensor self) -> Tensor
    digamma(Tensor self) -> Tensor
    erf(Tensor self) -> Tensor
    erfc(Tensor self) -> Tensor
    erfinv(Tensor self) -> Tensor
    i0(Tensor self) -> Tensor
    lgamma(Tensor self) -> Tensor
    real(Tensor self) -> Tensor
    special_erfcinv(Tensor self) -> Tensor
    special_erfcx(Tensor self) -> Tensor
    special_i0e(Tensor self) -> Tensor
    special_i1(Tensor self) -> Tensor
    special_i1e(Tensor self) -> Tensor
    special_log_ndtr(Tensor self) -> Tensor
    special_modified_bessel_k0(Tensor self) -> Tensor
    special_modified_bessel_k1(Tensor self) -> Tensor
    special_ndtr(Tensor self) -> Tensor
    special_ndtri(Tensor self) -> Tensor
    special_scaled_modified_bessel_k0(Tensor self) -> Tensor
    special_scaled_modified_bessel_k1(Tensor self) -> Tensor
    tetragamma(Tensor self) -> Tensor
    trigamma(Tensor self) -> Tensor
    where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor
"""

# ---- helpers

# Rooms of runtime/formulas, "" for itself -> modules of the helpers that formulas may call; see `helpers.py`.
_HELPER_ROOMS = {
    "": "formulas numbers parts arrangement ranks reduction selection replaced written matrices builtins",
    "statistics": "groups rows missing",
    "signals": "spectra frames slopes grids",
    "networks": "lookups windows pools losses pixels vectors standards attended",
}
HELPER_MODULES: Mapping[str, str] = MappingProxyType(
    {
        module: f"{room}.{module}" if room else module
        for room, modules in _HELPER_ROOMS.items()
        for module in modules.split()
    }
)

# Helpers that a loop leaves out (identities on the real numbers that loops compute with) or writes
# in its own way.
LOOP_HELPERS = frozenset({"conj_number", "real_number"})

# ---- attributes: kept as values, so that the tensor itself need not be saved

ATTRIBUTES: Mapping[str, Type] = MappingProxyType(
    {
        "shape": Type("int", is_list=True),
        "dtype": Type("dtype"),
        "device": Type("device"),
        "ndim": Type("int"),
        "numel": Type("int"),
        "is_complex": Type("bool"),
        "stride": Type("int", is_list=True),
        "storage_offset": Type("int"),
        "is_none": Type("bool"),  # written `x is None`
    }
)
LIST_ATTRIBUTES: Mapping[str, Type] = MappingProxyType(
    {
        "shape": Type("object"),  # of each tensor
        "dtype": Type("object"),
        "count": Type("int"),  # written `len(xs)`
        "is_none": Type("bool"),
    }
)

# Attributes written with parentheses; `x.size(dim)` is `x.shape[dim]`.
METHOD_ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {
        "numel": "numel",
        "dim": "ndim",
        "is_complex": "is_complex",
        "stride": "stride",
        "storage_offset": "storage_offset",
    }
)
# Attributes that have a spelling of their own and are not written with a dot.
UNDOTTED_ATTRIBUTES: Mapping[str, str] = MappingProxyType({"is_none": "x is None", "count": "len(x)"})

# ---- names that formulas may use anywhere

# Facts about one run of the engine -> how a node asks for them.
RUN_FACTS: Mapping[str, str] = MappingProxyType(
    {
        "retain_variables": "self.is_retained()",  # what is saved will be needed again
        "is_grad_enabled": "grad_enabled()",  # the gradient's own graph is wanted
    }
)
GRAD_INPUT_MASK = "grad_input_mask"

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "inf": math.inf, "nan": math.nan})
DTYPES = words(
    """
    bool uint8 int8 int16 int32 int64 float32 float64 complex64 complex128
    """
)

# ---- operators

# Kind of an operator -> Python's special methods of that kind.
OPERATORS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "unary": words("__neg__ __pos__ __abs__ __invert__"),
        "binary": words(
            """
            __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ __matmul__ __eq__
            __ne__ __lt__ __le__ __gt__ __ge__ __and__ __or__ __xor__ __lshift__ __rshift__
            """
        ),
        "reflected": words(
            """
            __radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rmod__ __rpow__ __rmatmul__
            __rand__ __ror__ __rxor__ __rlshift__ __rrshift__
            """
        ),
        "inplace": words(
            """
            __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__
            __iand__ __ior__ __ixor__ __ilshift__ __irshift__
            """
        ),
    }
)

# ---- forward: array(expression)

ARRAY_BUILTINS = words(
    """
    abs all any bool complex enumerate float int isinstance len list max min range reversed round slice sorted sum
    tuple zip
    """
)
# Modules allowed after `scipy.` there, before the name of a function.
SCIPY_MODULES = words("fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats")

# ---- Python texts outside of formulas

# Array generators that the expressions of samples may call; `gradsmith.verify` defines them.
SAMPLE_GENERATORS = words("real positive nonzero distinct boolean")
# Matrices, of which a sample says the size: they do not fit the shapes of usual samples.
MATRIX_GENERATORS = words("nonsingular symmetric positive_definite orthogonal lower upper")
SAMPLE_NAMES = SAMPLE_GENERATORS | MATRIX_GENERATORS | words("integers sorted geometry strided slice")
# Names allowed in points and in bounds of domains, besides literals.
NUMBER_NAMES = words("inf nan pi")
# The functions are those of gradsmith/verify/references/expected.py.
REFERENCE_FUNCTIONS = words(
    """
    T as_strided axes basic_index_backward bmm chunk class_weights contiguous corner complex_of_parts
    cross_entropy div_mode expand fill_ flatten floor_divide gather gelu geometry_scatter geometry_slice grid index_add
    index_backward index_put index_select linear log_softmax log_softmax_backward mT masked_fill masked_select
    max_dim min_dim mse_loss narrow nll_loss nll_loss_backward order_derivative places_of
    polynomial_derivative put reduced remainder restore_dims row_shares
    conv_output conv_image conv_weight convolved transposed_convolved multilabel_margins
    lstm_steps lstm_pullback lstm_pushforward gru_steps gru_pullback gru_pushforward row_steps rnn_steps rnn_pullback
    rnn_pushforward lstm_gates_bent lstm_cells_bent lstm_output_tangents gru_gates_bent earlier_rows first_rows
    ctc_losses
    window_maxima window_means spread_means at_places to_places pooled_maxima pooled_means adaptively
    sampled spread_samples weigh_samples resampled
    standardized standardized_backward class_losses class_losses_backward attention attention_backward
    scatter scatter_add scatter_src_reduce select sgn sign slices softmax softmax_backward split split_sizes
    squeeze_dim strided_places strided_view sum_to t transpose unbind unsqueeze view view_dtype zero_
    centered_convolution combinations convolution diag_embed diagonal_scatter eigh index_copy index_fill istft
    real_transform stft unfold unfold_backward
    argsort cummax cummin cumprod kthvalue median median_dim mode nanmedian nanmedian_dim p_norm recurrence
    recurrence_reversed
    searchsorted sort topk eig of_factor complement svd_with_columns svd_with_rows triangle
    eliminated exchanged lstsq of_bands of_diagonals of_rows_with_pivots permutation
    pivoted_by_rows reflections riccati discrete_riccati shortest_solution slope_of_factor solved_with stein sylvester
    unpacked whole_reflections
    group_extreme group_prod group_sum grouped index_reduce renorm scatter_reduce grid_gradient strided_replaced
    padded_by_numpy put_along_dim betainc_order_sum beta_density_derivative bessel_order_integral
    cumulative_prod cumulative_sum histogramdd_between histogramdd_even drawn_by_numpy gamma_rise_integral
    kept_by_streams places_by_weights
    """
)
REFERENCE_NAMES = REFERENCE_FUNCTIONS | words(
    "np scipy abs bool complex enumerate float int len list max min range reversed round sorted sum tuple zip"
)

# Array functions of the table are compiled with the runtime.
FUNCTIONS_FOLDER = "runtime/arrays/functions"
FUNCTIONS_PACKAGE = "gradsmith.runtime.arrays.functions"
HELPERS_PACKAGE = "gradsmith.runtime.formulas"

_DEFINITION = re.compile(r"^(?:def|cpdef [\w\[\], ]*?)\s*\b(\w+_(?:of|into))\s*\(", re.MULTILINE)


def scan_functions(folder: Path) -> dict[str, str]:
    """Functions of ``runtime/arrays/functions`` that the table may call, those named ``..._of``: name -> module.

    Beside ``index_put_of`` there may be an ``index_put_into`` of the same arguments, which writes the elements that
    change into its first argument: what the in-place form of the op calls.

    They are read from the text of the modules, since codegen imports nothing compiled. Of a compiled module an
    installation has the declarations alone.
    """
    found: dict[str, str] = {}
    for source in sorted(path for path in folder.rglob("*") if path.suffix in (".pyx", ".py", ".pxd")):
        for name in _DEFINITION.findall(source.read_text(encoding="utf-8")):
            if not name.startswith("_"):
                found.setdefault(name, module_within(folder, source))
    return found


def module_within(folder: Path, source: Path) -> str:
    """``linalg``, or ``matrices.solvers`` of a room of the folder."""
    return ".".join(source.relative_to(folder).with_suffix("").parts)


# Arguments that nothing has to read. PyTorch's programs give them, and on one device they make no difference.
WITHOUT_EFFECT = frozenset({"non_blocking"})


# Functions allowed in `prepare`: `prepare_<name>` of runtime/calls/preparation.pxd, and how many arguments it takes.
PREPARATIONS: dict[str, tuple[int, ...]] = {
    "addend": (3,),
    "apart": (2,),
    "bound": (2,),
    "clampable": (2, 3),
    "compared": (2,),
    "factor": (3,),
    "floating": (1,),
    "magnitude": (1,),
    "numeric": (1,),
    "own_dtype": (2,),
    "parts_of_index": (1,),
    "subtrahend": (3,),
}
