"""The question whether a model is being exported; nothing is, `gradsmith.graph` writes programs."""

from gradsmith.names.missing import raise_missing

__all__ = ["is_in_onnx_export"]
__getattr__ = raise_missing(__name__)


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: never."""
    return False
