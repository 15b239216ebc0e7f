from typing import Any

import numpy as np

from gradsmith.runtime.programs.program import Program

def is_one_block(program: Program) -> bool: ...
def run_often(program: Program, memory: dict[int, tuple[np.ndarray[Any, Any], int, int]], times: int) -> None: ...
