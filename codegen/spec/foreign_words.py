"""Words of PyTorch's tables, of C++ and of YAML, and what this language has for them: for hints."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Words of other languages that a formula or a default uses in place of Python's.
PYTHON_WORDS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("true", "TRUE", "yes", "Yes", "on"), "True"),
        **dict.fromkeys(("false", "FALSE", "no", "No", "off"), "False"),
        **dict.fromkeys(("null", "none", "nullptr", "nullopt"), "None"),
    }
)

# Functions and methods of PyTorch's formulas -> how a formula here says it.
FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("sizes", "sym_sizes"), "x.shape"),
        "sym_size": "x.shape[dim]",
        "sym_numel": "x.numel()",
        **dict.fromkeys(("strides", "sym_strides"), "x.stride()"),
        "sym_storage_offset": "x.storage_offset()",
        "scalar_type": "x.dtype",
        "options": "x.dtype and x.device",
        "defined": "x is not None, of a gradient grad_<name> is not None",
        "has_value": "x is not None",
        "value": "x, where x is not None",
        "maybe_multiply": "a * b",
        "toDouble": "x",
        "undefined": "None",
        "zeros": "zeros_like(shape, x.dtype, x.device)",
        "ones": "zeros_like(shape, x.dtype, x.device) + 1",
        "areAnyTensorSubclassLike": "the formula for tensors of one kind",
        "wrap_opt_if": "x, of which nothing is kept where no wanted gradient reads it",
        "handle_r_to_c": "the gradient alone: a real input takes its real part",
        "sum_to_size": "the gradient alone: it is summed to the shape of its input",
        "unsqueeze_to": "restore_dims, or x[..., None]",
    }
)

# Attributes of PyTorch's tensors -> how a formula here says it.
ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {
        "requires_grad": "the formula for tensors that require grad: others are not asked for one",
        **dict.fromkeys(
            ("is_cuda", "is_sparse", "is_quantized", "layout"), "the formula for dense arrays, which all are"
        ),
    }
)

# Signs of C++ that do not parse -> what Python has.
_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "&&": "Write 'and'.",
        "||": "Write 'or'.",
        "::": "Write the name of the function alone.",
        "->": "Write a dot.",
        "?": "Write 'a if test else b'.",
        "std": "Write x[0] for std::get<0>(x).",
        "!": "Write 'not'.",
        "{": "Write a list in brackets.",
        ";": "A formula is one expression. Give parts of it a name under 'let'.",
    }
)


def sign_hint(text: str) -> str:
    """Python's spelling of a sign of C++ in a text that does not parse, or ""."""
    plain = text.replace("!=", "")
    return next((hint for sign, hint in _SIGNS.items() if sign in plain), "")


# Rules of forward mode, where a gradient stands.
def rule_hint(name: str) -> str:
    return f"That is a rule of forward mode: 'result: {name}'." if name.startswith("auto_") else ""
