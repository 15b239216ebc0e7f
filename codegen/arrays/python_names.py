"""The names that Python texts of a table may read: samples, points, references, and the expressions of ``array(...)``.

They are evaluated when an op runs or is proven, so that they are all that a table could do besides computing. NumPy and
SciPy lead to the rest of Python by their attributes (``np.f2py.os.system``). Therefore their functions are listed here,
and so are the attributes of values; names with a leading underscore, Python's internals, are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from types import MappingProxyType

from ..spec.errors import Problem, did_you_mean, hint_from
from ..spec.syntax import describe
from ..spec.vocabulary import SCIPY_MODULES, words
from .scipy_names import SCIPY_FUNCTIONS

# Functions, constants and dtypes of NumPy that compute. None reads or writes a file, or changes one of its arguments.
NUMPY_NAMES = words(
    """
    abs absolute acos acosh add all allclose amax amin angle any append arange arccos arccosh arcsin arcsinh arctan
    arctan2 arctanh argmax argmin argpartition argsort argwhere around array array_equal array_equiv array_split
    asarray ascontiguousarray asin asinh atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett bincount
    bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
    bitwise_xor blackman block bool bool_ broadcast_arrays broadcast_shapes broadcast_to cbrt ceil choose clip
    column_stack complex128 complex64 complexfloating compress concat concatenate conj conjugate convolve copy
    copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum deg2rad degrees delete diag
    diag_indices diagflat diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d einsum empty
    empty_like equal euler_gamma exp exp2 expand_dims expm1 extract eye fabs finfo fix flatnonzero flip fliplr
    flipud float16 float32 float64 float_power floating floor floor_divide fmax fmin fmod frexp full full_like gcd
    gradient greater greater_equal hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd
    hsplit hstack hypot i0 identity iinfo imag index_exp indices inf inner insert int16 int32 int64 int8 int_
    integer interp intersect1d invert isclose iscomplex iscomplexobj isfinite isin isinf isnan isneginf isposinf
    isreal isrealobj isscalar issubdtype ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace log
    log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul
    matrix_transpose matvec max maximum mean median meshgrid min minimum mod modf moveaxis multiply nan nan_to_num
    nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
    nanstd nansum nanvar ndim negative newaxis nextafter nonzero not_equal number ones ones_like outer packbits pad
    partition percentile permute_dims pi poly polyadd polyder polydiv polyfit polyint polymul polysub polyval
    positive pow power prod promote_types ptp quantile rad2deg radians ravel ravel_multi_index real real_if_close
    reciprocal remainder repeat reshape resize result_type right_shift rint roll rollaxis roots rot90 round
    searchsorted select setdiff1d setxor1d shape sign signbit sin sinc sinh size sort spacing split sqrt square
    squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid
    tri tril tril_indices tril_indices_from triu triu_indices triu_indices_from true_divide trunc uint16 uint32
    uint64 uint8 union1d unique unpackbits unravel_index unwrap vander var vdot vecdot vecmat vsplit vstack where
    zeros zeros_like
    """
)
NUMPY_MODULES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "linalg": words(
            """
            cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
            matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv
            tensorsolve trace vecdot vector_norm
            """
        ),
        "fft": words(
            """
            fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2
            rfftfreq rfftn
            """
        ),
    }
)
# Of arrays, and of what functions of NumPy and SciPy give: ufuncs, dtypes, named tuples, distributions.
VALUE_ATTRIBUTES = words(
    """
    H T accumulate all any argmax argmin argpartition argsort astype bits cdf char choose clip compress conj
    conjugate copy count cumprod cumsum diagonal dot dtype eigenvalues eigenvectors eps flat flatten imag index
    is_integer isf item itemsize kind logabsdet logcdf logpdf logpmf logsf mT max mean min name names nbytes ndim
    nonzero num numerator outer pdf pmf ppf prod ptp real reduce reduceat repeat reshape resolution round searchsorted
    sf shape sign size smallest_normal squeeze std strides sum swapaxes take tiny tolist trace transpose type var
    x
    """
)
# Of a generator: methods that draw new numbers.
GENERATOR_METHODS = words(
    """
    beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers laplace
    logistic lognormal logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f normal pareto permutation permuted poisson power random rayleigh standard_cauchy
    standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf
    """
)
# Syntax that does more than give a value: it binds names out of order, or makes functions.
_STATEMENTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.NamedExpr)


def verify_expression(tree: ast.AST, subject: str) -> None:
    """Raise a `Problem` for a part that texts of a table do not have, though Python's expressions do."""
    for node in ast.walk(tree):
        if isinstance(node, _STATEMENTS):
            raise Problem(f"{subject} has {describe(node)}, which expressions do not know", node.col_offset)


def verify_attributes(
    tree: ast.AST, subject: str, arguments: Set[str] = frozenset(), generators: Set[str] = frozenset()
) -> None:
    """Raise a `Problem` for an attribute, or a part of NumPy or SciPy, that a table may not read.

    `arguments` are names that mean something else than a module, `generators` sources of random numbers.
    """
    modules = {name for name in ("np", "scipy") if name not in arguments}
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in sorted(ast.walk(tree), key=_place):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in generators:
            _verify_draw(node, subject)
        elif isinstance(node, ast.Attribute):
            _verify_attribute(node, subject, modules)
            if id(node) not in inside:
                _verify_no_module(node, subject, modules)
        elif isinstance(node, ast.Name) and node.id in modules and id(node) not in inside:
            hint = "Write scipy.<module>.<function>, as in scipy.special.erfinv(self)." if node.id == "scipy" else ""
            raise Problem(f"{subject} uses '{node.id}' without a function of it", node.col_offset, hint)


def _verify_draw(node: ast.Attribute, subject: str) -> None:
    if node.attr not in GENERATOR_METHODS:
        problem = f"{subject} reads '{node.attr}', which is no method of a generator that tables may call"
        raise Problem(problem, _offset(node), did_you_mean(node.attr, GENERATOR_METHODS))


def _verify_attribute(node: ast.Attribute, subject: str, modules: Set[str]) -> None:
    path = _path(node)
    is_module = bool(path) and path[0] in modules
    if node.attr.startswith("_"):
        hint = "Names that begin with an underscore belong to Python."
        raise Problem(f"{subject} reads '{node.attr}', which is not for tables", _offset(node), hint)
    if is_module and path[0] == "np" and _is_in_numpy(path, subject, node):
        return
    if is_module and path[0] == "scipy" and _is_in_scipy(path, subject, node):
        return
    if node.attr not in VALUE_ATTRIBUTES:
        problem = f"{subject} reads '{node.attr}', which is no attribute that tables may read"
        raise Problem(problem, _offset(node), did_you_mean(node.attr, VALUE_ATTRIBUTES))


def _verify_no_module(node: ast.Attribute, subject: str, modules: Set[str]) -> None:
    """``np.linalg`` as a value could be read from by another name."""
    path = _path(node)
    if len(path) == 2 and path[0] in modules and path[1] in {"np": NUMPY_MODULES, "scipy": SCIPY_FUNCTIONS}[path[0]]:
        raise Problem(f"{subject} uses '{'.'.join(path)}' without a function of it", node.col_offset)


def _is_in_numpy(path: tuple[str, ...], subject: str, node: ast.Attribute) -> bool:
    """Is the whole path a module or function of NumPy that is listed; False of an attribute of such a function."""
    module = NUMPY_MODULES.get(path[1])
    if len(path) == 2:
        if module is None and path[1] not in NUMPY_NAMES:
            raise _not_listed(path, subject, node, NUMPY_NAMES | NUMPY_MODULES.keys())
        return True
    if module is None or len(path) > 3:
        return False
    if path[2] not in module:
        raise _not_listed(path, subject, node, module)
    return True


def _not_listed(path: tuple[str, ...], subject: str, node: ast.Attribute, names: Set[str]) -> Problem:
    library = "NumPy" if path[0] == "np" else "SciPy"
    problem = f"{subject} uses '{'.'.join(path)}', which is no function of {library} that tables may call"
    return Problem(problem, node.col_offset, did_you_mean(path[-1], names))


def _is_in_scipy(path: tuple[str, ...], subject: str, node: ast.Attribute) -> bool:
    """The same of SciPy."""
    if len(path) == 2 and path[1] not in SCIPY_MODULES:
        hint = hint_from("Modules", path[1], SCIPY_MODULES)
        raise Problem(f"{subject} uses 'scipy.{path[1]}', which is no module of SciPy", node.col_offset, hint)
    if len(path) == 3 and path[2] not in SCIPY_FUNCTIONS[path[1]]:
        raise _not_listed(path, subject, node, SCIPY_FUNCTIONS[path[1]])
    return len(path) <= 3


def _path(node: ast.Attribute) -> tuple[str, ...]:
    """``np.linalg.norm`` as its words; empty where it begins with something else than a name."""
    attributes = [node.attr]
    value: ast.expr = node.value
    while isinstance(value, ast.Attribute):
        attributes.append(value.attr)
        value = value.value
    return (value.id, *reversed(attributes)) if isinstance(value, ast.Name) else ()


def _place(node: ast.AST) -> tuple[int, int]:
    """Before what a part belongs to, the part."""
    return getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)


def _offset(node: ast.Attribute) -> int:
    return (node.end_col_offset or 0) - len(node.attr)
