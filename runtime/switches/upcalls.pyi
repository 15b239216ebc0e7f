from collections.abc import Callable
from typing import Any

_Function = Callable[..., Any]

NAMES: tuple[str, ...]
ON_FIRST_USE: dict[str, str]
add: _Function
make_class_overridable: _Function
make_everything_overridable: _Function
make_all_members_overridable: _Function
make_operators_overridable: _Function
backward: _Function
basic_index: _Function
basic_index_backward: _Function
bucketize: _Function
call_node: _Function
call_numpy: _Function
call_numpy_by_solver: _Function
call_ufunc: _Function
cat: _Function
clone: _Function
clone_by_rows: _Function
copy_: _Function
embedded_diagonals: _Function
expand: _Function
fill_: _Function
function_type: type
generator_behind: _Function
generator_type: type
geometry_scatter: _Function
geometry_slice: _Function
innermost_tangent: _Function
grad: _Function
index: _Function
index_put_: _Function
numpys_error: _Function
one_slice: _Function
parted_view: _Function
permute: _Function
put_numpy_methods: _Function
real: _Function
reshape: _Function
rows_of_groups: _Function
scaled_distance: _Function
select: _Function
squeeze: _Function
stack: _Function
sum_to: _Function
to: _Function
unbind: _Function
unsqueeze: _Function
view_of_all: _Function
where: _Function

def fill(**functions: _Function) -> None: ...
