from typing import Any

class UpdateRule:
    loop: str
    settings: tuple[str, ...]
    counters: tuple[str, ...]
    def __init__(
        self,
        loop: str,
        settings: tuple[str, ...],
        counters: tuple[str, ...] = ...,
        states: tuple[str | tuple[str, str], ...] = ...,
    ) -> None: ...
    def states_in(self, group: dict[str, Any]) -> list[str | None]: ...

def step(optimizer: Any, rule: UpdateRule) -> None: ...
def clear_gradients(groups: list[dict[str, Any]], set_to_none: bool) -> None: ...
