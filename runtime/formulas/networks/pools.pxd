"""Helpers of pooling: the windows of images; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Int, IntList, OptionalInt, OptionalIntList, Str

cpdef object pool_spans(
    Str op, IntList shape, IntList window, object stride, IntList padding, IntList dilation, Bool ceil_mode)
cpdef object pool_divisors(
    Str op, IntList shape, IntList window, object stride, IntList padding, Bool ceil_mode, Bool with_padding,
    object divisor)
cpdef object adaptive_spans(Str op, IntList shape, Int dims, object size)
cpdef object adaptive_divisors(Str op, IntList shape, Int dims, object size)
