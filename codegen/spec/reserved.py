"""Names that an argument, a result or an op cannot have, because the generated module has them.

They are written down here, since what may be written in the table does not depend on how it is generated. Tests
compare them with the templates and with what generated functions declare, so that the lists cannot fall behind.
"""

from __future__ import annotations

import re

from .names import FIRST_TENSOR, SECOND_NAMES, array_name, edge_name, tangent_name
from .schema import Signature
from .vocabulary import ATTRIBUTES, LIST_ATTRIBUTES, UFUNCS, words

# Words of Cython and of C's types; Python's own are refused before.
CYTHON_WORDS = words(
    """
    DEF ELIF ELSE IF NULL bint cdef char cimport const cpdef cppclass ctypedef double enum extern float fused include
    inline int long nogil packed short signed size_t sizeof ssize_t str struct union unsigned void volatile
    """
)
# Names that a generated module imports.
MODULE_NAMES = words(
    """
    along_slices apply_fused array_of array_or_none arrays_in arrays_of as_bool as_bool_or_none as_device
    as_device_or_none as_dim as_dim_or_none as_dim_tuple as_dim_tuple_or_none as_dtype as_dtype_or_none as_first_operand
    as_float as_float_or_none as_floating as_generator as_generator_or_none as_int as_int_or_none as_int_tuple
    as_int_tuple_or_none as_new_dim as_number as_number_or_none as_operand as_optional_tensor_list
    as_optional_tensor_list_or_none as_promoted as_str as_str_or_none as_tensor_list as_tensor_list_or_none
    as_tensor_operand as_tensor_operand_or_none as_input as_tuple as_tuple_or_none as_view as_view_list BatchRule
    backward_kernels become_view before_write begin_op begin_replaceable_op binary binary_into binary_scalar
    binary_scalar_into BOOL_ITEMS builtins by_copy by_indexing by_ops by_parts by_values by_views carry_tangents
    carry_transposed check_change check_inplace check_input check_no_gradient check_no_gradient_list check_not_recorded
    check_real check_several check_tensor check_tensor_or_none collect_edge collect_edge_list connect_1 connect_2
    connect_3 copies_of copy_into copy_of cpython device_of drop_value dtype_of dtype_of_out dtypes_of elementwise
    end_op end_tangents ended ended_composite ended_composites finish_inplace FLOAT_ITEMS fused_forward fused_into
    FusedKernel give_out grad_enabled
    gradient gradient_or_zeros gradsmith has_tangent_1 has_tangent_2 has_tangent_3 has_tangent_list INT_ITEMS is_complex
    is_tensor IS_VIEW item_of kept_from_write lent loop_of_kernel loop_of_ufunc name_within ndim_of no_loop Node np
    number_as_tensor NUMBER_ITEMS numel_of numpy numpy_generator of_cores offset_of or_zeros original_of Overload
    Overloads own_memory owned plus prepare_addend prepare_apart prepare_bound prepare_clampable prepare_compared
    prepare_factor prepare_floating prepare_history prepare_magnitude prepare_numeric prepare_own_dtype
    prepare_parts_of_index prepare_subtrahend PyCapsule_New PyObject readonly refuse_numbers replayed_arrays
    replayed_result replayed_tensor replays REQUIRED requires_grad_1 requires_grad_2 requires_grad_3 requires_grad_list
    reset_accumulator return_type save_input save_list save_mode save_object save_output saved_list saved_number
    saved_object saved_tensor saved_value SciPy set_grad_input set_grad_inputs set_history set_history_list set_value
    shape_of shapes_of share_version slice_by_slice spread STR_ITEMS stride_of take_second_names TensorBase unary
    unary_into unlinked unpack unpack_list unpack_number unpack_object value_of wants wants_any watching wrap
    wrap_owned write_inplace write_out_docstrings write_several write_values writes_directly written_batched
    """
)
# Functions and types of Python that generated code calls.
CALLED_BUILTINS = words("__name__ complex dict enumerate globals isinstance len list object property range tuple zip")
# Locals and classes around the arguments of an op.
LOCAL_NAMES = words(
    """
    args array assigned choice computes_with depth either found given gives_items grad_inputs gradients grads history i
    inplace means_repetition kwargs Methods node noexcept one_of original out refuse_inplace tangents Variable wanted
    """
)
# Locals of what is generated for some entries alone.
POINTWISE_NAMES = frozenset({"operands"})
JOINT_NAMES = frozenset({"parts"})
# Of the C entries of all ops.
_ENTRIES = ("op_", "own_")
_CONSTANTS = re.compile(r"[A-Z0-9_]+_(?:FORWARD|BACKWARD)")

# The names `input` and `other` give way to an argument so called.
_OTHER_NAMES = {"self": FIRST_TENSOR} | {own: SECOND_NAMES[own][0] for own in ("dim", "keepdim")}


def is_taken(name: str, *, pointwise: bool, joint: bool) -> bool:
    """Does the code of an entry need the name where an argument or a result would have it?"""
    if name in POINTWISE_NAMES:
        return pointwise
    if name in JOINT_NAMES:
        return joint
    if is_taken_by_module(name) or name in LOCAL_NAMES or name.startswith(_ENTRIES):
        return True
    return bool(_CONSTANTS.fullmatch(name)) or (name.isupper() and name.lower() in UFUNCS)


def derived_names(signature: Signature) -> dict[str, str]:
    """Names that are made from those in a signature, such as ``self_t``, the tangent of ``self``; with their origins.

    Callers know some arguments by another name.
    """
    tensors = [a.name for a in signature.arguments if a.type.is_differentiable]
    attributes = ATTRIBUTES.keys() | LIST_ATTRIBUTES.keys()
    found: dict[str, str] = {}
    for name in (*tensors, *signature.output_names):
        made = (tangent_name(name), edge_name(name), array_name(name), *(f"{name}_{a}" for a in attributes))
        found |= dict.fromkeys(made, name)
    called = {name: own for own, name in _OTHER_NAMES.items() if signature.expect_argument(own)}
    return {**found, **called, "self_": "self"}


def is_taken_by_module(name: str) -> bool:
    """Does generated code need the name in a module where an op would have it?"""
    return name in CYTHON_WORDS or name in MODULE_NAMES or name in CALLED_BUILTINS
