"""L-BFGS: a quasi-Newton method that evaluates the loss itself."""

from gradsmith.optim.lbfgs.method import LBFGS

__all__ = ["LBFGS"]
