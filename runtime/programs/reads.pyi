from typing import Any

MISSING: object
LENGTH: object
CONTENTS: object

class Read:
    holder: Any
    name: Any
    value: Any

    def __init__(self, holder: Any, name: Any, value: Any) -> None: ...
    def is_there(self) -> bool: ...
