"""Paths of the tables of these tests, and a small table."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

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
