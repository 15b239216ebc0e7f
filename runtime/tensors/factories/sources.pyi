import threading
from typing import Any

import numpy as np

from gradsmith.runtime.tensors.factories.random import Generator

class OfThread(threading.local):
    generator: Any

of_thread: OfThread

def put_default(generator: Any) -> None: ...
def generator_behind(generator: Any) -> Generator: ...
def numpy_generator(generator: Any) -> np.random.Generator: ...
