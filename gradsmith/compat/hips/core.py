"""What HIPS programs take from the core: the operators of functions of one argument, rules, and vector spaces."""

from gradsmith.compat.hips.differential_operators import _make_jvp as make_jvp
from gradsmith.compat.hips.differential_operators import _make_vjp as make_vjp
from gradsmith.compat.hips.extend import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive,
)
from gradsmith.compat.hips.tracer import Box, JVPNode, Node, VJPNode, getval, isbox
from gradsmith.compat.hips.vector_spaces import VSpace, vspace

__all__ = [
    "Box", "JVPNode", "Node", "VJPNode", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp",
    "defvjp_argnum", "defvjp_argnums", "getval", "isbox", "make_jvp", "make_vjp", "primitive", "vspace",
]  # fmt: skip
