"""Parametrizations of weights: orthogonal, of a given length, of spectral norm one."""

from gradsmith.nn.utils.parametrizations.norms import spectral_norm, weight_norm
from gradsmith.nn.utils.parametrizations.orthogonal import orthogonal

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
