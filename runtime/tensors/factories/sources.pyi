import threading
from typing import Any

import numpy as np

class OfThread(threading.local):
    generator: Any

of_thread: OfThread

def put_default(generator: Any) -> None: ...
def generator_behind(generator: Any) -> Any: ...
def numpy_generator(generator: Any) -> np.random.Generator: ...
