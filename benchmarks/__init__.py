"""The suite that measures gradsmith beside NumPy by hand, PyTorch, JAX and HIPS autograd: see README.md.

Rooms, from the bottom up: `cases.py` (what a row is), `contestants` (how a program is given to each library),
`workloads` (what is timed), `measure` (how), `report` (what is written), `compare` (two commits of gradsmith).
Beside them, for several processes: `ranks.py` and `scaling`.
"""
