"""Paths of the tables of these tests, a small table, and leaves for their ops."""

from pathlib import Path

import gradsmith as gs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONFORMANCE = HERE / "conformance" / "conformance.yaml"

SMALL = """\
waves:

- name: ripple(Tensor self) -> Tensor
  forward: pointwise(sin(self) * self)
  self: grad * (cos(self) * self + sin(self))
  variants: [function, method, inplace]
  aliases: [ripples]
  complex: false
  samples:
  - real(3, 4)
  doc: Waves that grow.
"""


def leaf(*numbers):
    return gs.tensor(numbers, dtype=gs.float64, requires_grad=True)
