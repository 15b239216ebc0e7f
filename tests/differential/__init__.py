"""Random programs, run by gradsmith and by PyTorch and compared step by step: ``python -m tests.differential``.

`generate` draws steps, `program` says what a step is, `machine` carries one out in a library, `compare` looks for
differences, `explained` lists those that are deliberate, `shrink` makes a program small, and `batches` runs thousands
of programs in child processes.
"""
