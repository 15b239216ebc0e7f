"""Options of a check."""

from __future__ import annotations

from dataclasses import dataclass

DIFFERENCE, COMPLEX_STEP = METHODS = ("difference", "complex_step")


@dataclass(frozen=True)
class Options:
    """The options of `gradcheck` that say what is compared and how closely."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool
    masked: bool
    method: str

    def __post_init__(self) -> None:
        if not (self.check_forward_ad or self.check_backward_ad):
            raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
        if self.check_batched_grad and not self.check_backward_ad:
            raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
        if self.check_batched_forward_grad and not self.check_forward_ad:
            raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
        if self.method not in METHODS:
            raise ValueError(f"gradcheck: method must be one of {', '.join(map(repr, METHODS))}, got {self.method!r}")
