"""What became of the mutants of an entry."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Survivor:
    """A wrong formula that the samples take for the right one."""

    subject: str  # "gradient of 'self'"
    formula: str
    mutant: str
    remedy: str  # what would tell the two apart

    def __str__(self) -> str:
        return f"{self.subject} might as well be `{self.mutant}` instead of `{self.formula}`: add {self.remedy}"


@dataclass
class Tally:
    """Mutants by what became of them. Equal are those that no call tells from the formula."""

    made: int = 0
    killed: int = 0
    equal: list[str] = field(default_factory=list)  # "grad * sgn(self) for real(grad) * sgn(self)"
    survivors: list[Survivor] = field(default_factory=list)
