"""Helpers of ops that look rows up in a table; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Device, Int, IntList, Tensor

cpdef Bool is_table_of_leaf(Tensor weight, Bool sparse)
cpdef Tensor embedded_by_parts(Tensor weight, Tensor indices, Int padding_idx, Bool by_frequency)
cpdef Tensor shared_rows(Tensor rows, Tensor indices, Int count, Int padding_idx, Bool by_frequency)
cpdef Bool keeps_rows(Bool sparse, Device device)
cpdef Tensor used_rows(Tensor gradient, Tensor indices, IntList shape, Int padding_idx, Bool by_frequency)
