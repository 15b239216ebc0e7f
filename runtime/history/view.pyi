from typing import Any

from gradsmith.runtime.batching.batch import VmapLevel

def one_slice(tensor: Any, level: VmapLevel) -> Any: ...
