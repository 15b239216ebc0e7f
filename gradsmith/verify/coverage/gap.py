"""Something that no sample of an entry shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """A condition of being proven that is not met."""

    subject: str  # "'dim' is never negative"
    remedy: str  # what to add: "a sample such as real(3, 4), dim=-1"

    def __str__(self) -> str:
        return f"{self.subject}: add {self.remedy}"


def sample_to_add(text: str) -> str:
    return f"a sample such as `{text}`"
