"""SciPy's optimizers, with derivatives of the functions that they are given, and trees of parameters.

Each function takes what SciPy's function of that name takes, and needs SciPy.

>>> import gradsmith as gs
>>> def distance(p):
...     return (p["x"] - 3) ** 2 + ((p["y"] + gs.arange(2)) ** 2).sum()
>>> found = gs.optimize.minimize(distance, {"x": 0.0, "y": gs.zeros(2)})
>>> round(found.x["x"], 4), found.x["y"].round(decimals=4)
(3.0, tensor([ 0., -1.]))
"""

from gradsmith.optimize.minimization import minimize, minimize_scalar
from gradsmith.optimize.residuals import curve_fit, least_squares
from gradsmith.optimize.roots import root, root_scalar

__all__ = ["curve_fit", "least_squares", "minimize", "minimize_scalar", "root", "root_scalar"]
