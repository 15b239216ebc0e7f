"""Helpers of ops that reduce the elements written to one place; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Int, Str, Tensor, TensorList

cpdef Tensor ordered(Tensor self, Str reduce)
cpdef Tensor start_of_groups(Tensor self, Int dim, Tensor index, Str reduce, Bool include_self)
cpdef Tensor group_means(Tensor total, Int dim, Tensor index, Bool include_self, Str op)
cpdef TensorList group_products(Tensor self, Int dim, Tensor index, Tensor src)
cpdef Tensor places_of_slices(Tensor self, Int dim, Tensor index, Tensor source)
cpdef TensorList group_shares(Tensor gradient, Tensor self, Int dim, Tensor index, Tensor src, Tensor value)
cpdef Bool scatter_reduce_into(Tensor self, Int dim, Tensor index, Tensor src, Str reduce, Bool include_self)
cpdef Bool index_reduce_into(Tensor self, Int dim, Tensor index, Tensor source, Str reduce, Bool include_self)
