"""L-BFGS: a quasi-Newton method that evaluates the loss itself."""

from gradsmith.optim.lbfgs.line_search import _cubic_interpolate, _strong_wolfe
from gradsmith.optim.lbfgs.method import LBFGS

__all__ = ["LBFGS", "_cubic_interpolate", "_strong_wolfe"]
