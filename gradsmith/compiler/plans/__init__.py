"""Plans: from the steps of a trace to a program, which knows where its values live and what runs without Python.

`plan` is the way through; in its order: `merging`, `fusing`, `native`, `loops` (with `periods`), `rooms`, and `blocks`
(with `places` and `tiles`).
"""
