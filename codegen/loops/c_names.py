"""Names of the table in a loop of C."""

from __future__ import annotations

import re

from ..spec.vocabulary import words

# Of the language, up to C23 and with GNU's own.
_KEYWORDS = words(
    """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false
    float for goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct
    switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while
    """
)
# Macros in small letters that headers or the compiler itself define.
_MACROS = words(
    """
    complex constchar errno far i386 imaginary interface linux longdouble_t math_errhandling near sched_priority small
    st_atime st_ctime st_mtime stderr stdin stdout unix
    """
)
# Names that the loop itself uses.
_LOCALS = frozenset({"args", "i", "n", "npy_intp", "out", "scalars"})
_FUNCTIONS = words(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh digamma erf erfc erfcinv erfcx erfinv exp exp2
    expm1 fabs floor fmax fmin hypot i0 i0e i1 i1e k0 k0e k1 k1e lgamma log log10 log1p log2 log_ndtr ndtr ndtri pow
    rint sin sinh sqrt tan tanh tetragamma tgamma trigamma trunc
    """
)
_TAKEN = _KEYWORDS | _MACROS | _LOCALS | _FUNCTIONS | {f"{name}f" for name in _FUNCTIONS}

# Locals of loops are numbered, what is changed here ends in an underscore, and headers have prefixes.
_LIKE_OURS = re.compile(r".*_\d*$|gs_|npy_")


def c_name(name: str) -> str:
    """A name that C, its headers and the loop leave free. One in capital letters may be a macro anywhere."""
    is_taken = name in _TAKEN or name.isupper() or _LIKE_OURS.match(name)
    return f"{name}_" if is_taken else name
