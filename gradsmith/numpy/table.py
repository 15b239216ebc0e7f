"""Which of NumPy's names lead where.

A name is a ufunc, a function of one of the modules here, or one of NumPy's own: a function that is called with arrays
in place of tensors and whose arrays become tensors (`PLAIN`), or anything else that is handed on as it is (`SAME`).
Other names are missing, for a reason.
"""

from __future__ import annotations

# Functions of the modules here.
MODULES = {
    "calculus": (
        "angle apply_along_axis apply_over_axes around convolve correlate diff ediff1d fix gradient i0 imag"
        " interp kaiser piecewise poly polyadd polyder polydiv polyfit polyint polymul polysub polyval real roots"
        " round sinc trapezoid unwrap"
    ),
    "creation": (
        "array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray empty_like full"
        " full_like geomspace linspace logspace ones_like require vander zeros_like"
    ),
    "moves": (
        "argpartition array_split block bmat delete diagonal dsplit extract flip fliplr flipud hsplit"
        " insert intersect1d lexsort partition repeat resize roll rollaxis rot90 setdiff1d setxor1d sort"
        " sort_complex split tile trim_zeros union1d unique unique_all unique_counts unique_inverse"
        " unique_values unstack vsplit"
    ),
    "places": (
        "choose clip compress copyto fill_diagonal isclose nan_to_num place put put_along_axis putmask"
        " real_if_close select take take_along_axis where"
    ),
    "products": ("cross dot einsum einsum_path inner kron outer tensordot vdot"),
    "reductions": (
        "all amax amin any cumprod cumsum cumulative_prod cumulative_sum max mean min nancumprod nancumsum"
        " nanmax nanmean nanmin nanprod nansum prod ptp sum"
    ),
    "shapes": (
        "append astype atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to column_stack concat"
        " concatenate copy diag diagflat dstack expand_dims hstack matrix_transpose meshgrid moveaxis ndim pad"
        " permute_dims ravel reshape shape size squeeze stack swapaxes trace transpose tril triu vstack"
    ),
    "statistics": (
        "average bincount corrcoef cov histogram histogram2d histogram_bin_edges histogramdd median nanmedian"
        " nanpercentile nanquantile"
        " nanstd nanvar percentile quantile std var"
    ),
}

# Functions of NumPy whose results have no derivative.
PLAIN = (
    "allclose arange argmax argmin argsort argwhere array2string array_equal array_equiv array_repr array_str"
    " bartlett base_repr binary_repr blackman busday_count busday_offset common_type count_nonzero"
    " diag_indices diag_indices_from digitize empty eye flatnonzero format_float_positional"
    " format_float_scientific from_dlpack frombuffer fromfile fromfunction fromiter fromregex fromstring"
    " genfromtxt hamming hanning identity indices is_busday iscomplex iscomplexobj"
    " isfortran isin isneginf isposinf isreal isrealobj isscalar iterable ix_ load loadtxt mask_indices"
    " may_share_memory min_scalar_type nanargmax nanargmin nonzero ones packbits ravel_multi_index result_type"
    " can_cast save savetxt savez savez_compressed searchsorted shares_memory tri tril_indices"
    " tril_indices_from triu_indices triu_indices_from unpackbits unravel_index zeros datetime_as_string"
    " datetime_data broadcast_shapes"
)

# Handed on as they are: classes, dtypes, constants, settings.
SAME = (
    "False_ True_ ScalarType bool bool_ broadcast busdaycalendar byte bytes_ cdouble character"
    " clongdouble complex128 complex256 complex64 complexfloating csingle datetime64 double dtype dtypes e"
    " errstate euler_gamma exceptions finfo flexible float128 float16 float32 float64 floating generic"
    " half iinfo index_exp inexact inf int16 int32 int64 int8 int_ intc integer intp isdtype issubdtype"
    " little_endian long longdouble longlong mintypecode nan newaxis number object_ pi promote_types s_"
    " sctypeDict short signedinteger single str_ testing timedelta64 typecodes typename typing ubyte ufunc"
    " uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unsignedinteger ushort void getbufsize"
    " geterr geterrcall get_include get_printoptions info isnat ndindex printoptions set_printoptions"
    " setbufsize seterr seterrcall show_config show_runtime ndarray ndenumerate"
)

# NumPy's names that are not here, and what to use.
MISSING = {
    "matrix": "matrices of NumPy multiply by `*`, which tensors do not; use `array` and `@`",
    "asmatrix": "matrices of NumPy multiply by `*`, which tensors do not; use `asarray` and `@`",
    "frompyfunc": "it makes arrays of Python objects; use `vectorize`, or gradsmith.vmap",
    "memmap": "use numpy.memmap; from_numpy of it shares its memory",
    "rec": "tensors hold numbers, no records; use numpy.rec",
    "recarray": "tensors hold numbers, no records; use numpy.recarray",
    "record": "tensors hold numbers, no records; use numpy.record",
    "polynomial": "its classes hold arrays; use numpy.polynomial for fixed ones, `polyval` for derivatives",
    "char": "tensors hold numbers, no text; use numpy.char",
    "strings": "tensors hold numbers, no text; use numpy.strings",
    "core": "private to NumPy",
    "ctypeslib": "use numpy.ctypeslib with `x.numpy()`",
    "f2py": "use numpy.f2py",
    "lib": "use numpy.lib",
    "ma": "use numpy.ma, or `where` with a mask",
    "test": "runs NumPy's own tests; use numpy.test",
    "flatiter": "use `x.reshape(-1)`",
    "nditer": "use numpy.nditer with `x.numpy()`",
    "nested_iters": "use numpy.nested_iters with `x.numpy()`",
}


def place_of(name: str) -> str:
    """The module that has a function of this name, or a blank."""
    return next((module for module, names in MODULES.items() if name in names.split()), "")
