from typing import Any

class Snapshot:
    def __init__(self, module: Any) -> None: ...
