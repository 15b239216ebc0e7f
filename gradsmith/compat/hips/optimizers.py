"""``autograd.optimizers``, the older place of `misc.optimizers`."""

from gradsmith.compat.hips.misc.optimizers import adam, rmsprop, sgd

__all__ = ["adam", "rmsprop", "sgd"]
