"""The fate of an entry's mutants, counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Survivor:
    """A wrong formula that the samples take for the right one."""

    subject: str  # "gradient of 'self'"
    formula: str
    mutant: str
    remedy: str  # what would tell the two apart

    def __str__(self) -> str:
        return f"{self.subject} might as well be `{self.mutant}` instead of `{self.formula}`: add {self.remedy}"


@dataclass(frozen=True)
class Equal:
    """A formula that is no wrong one, since it gives the same."""

    subject: str
    formula: str
    mutant: str
    because: str = ""  # a step that gives the same; nothing where both formulas have one normal form

    @property
    def is_by_algebra(self) -> bool:
        return not self.because

    def __str__(self) -> str:
        return f"{self.mutant} for {self.formula}"


@dataclass
class Tally:
    """Mutants by what became of them. Equal are those that algebra, or no call, tells from the formula."""

    made: int = 0
    killed: int = 0
    equal: list[Equal] = field(default_factory=list)
    survivors: list[Survivor] = field(default_factory=list)

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Tally:
        """From what `asdict` made of one, of which no mutant survived."""
        return cls(record["made"], record["killed"], [Equal(**equal) for equal in record["equal"]])

    @property
    def by_algebra(self) -> int:
        return sum(equal.is_by_algebra for equal in self.equal)

    @property
    def explained(self) -> int:
        return len(self.equal) - self.by_algebra
