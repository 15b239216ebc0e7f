"""``torch.utils.benchmark``: how long statements take, and tables of it.

>>> import gradsmith as gs
>>> timer = gs.utils.benchmark.Timer("x @ x", globals={"x": gs.ones(8, 8)}, label="product")
>>> found = timer.timeit(100)
>>> found.number_per_run, 0 < found.median < 1
(100, True)
"""

from gradsmith.names.missing import raise_missing
from gradsmith.utils.benchmark.compare import Compare
from gradsmith.utils.benchmark.measurement import Measurement, select_unit, unit_to_english
from gradsmith.utils.benchmark.timer import Timer, timer

__all__ = ["Compare", "Measurement", "Timer", "select_unit", "timer", "unit_to_english"]
__getattr__ = raise_missing(__name__)
