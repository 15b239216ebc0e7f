"""A program that runs many times in a row: the step of a loop, on memory that moves along from step to step.

A program that is one block needs no Python for that. The addresses of its inputs and outputs are set once, and move by a fixed
number of bytes after each step: along rows and stacked results, and back and forth between two places of the state.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.programs.block cimport Block
from gradsmith.runtime.programs.program cimport Frame, Program, Step

import numpy as np

cnp.import_array()


def is_one_block(Program program not None):
    """Can `run_often` run it? What it gives is memory that the block fills, and it writes nowhere else."""
    if len(program.steps) != 1:
        return False
    cdef Block block = (<Step>program.steps[0]).block
    if block is None or block.counted:
        return False
    fresh = {slot for slot, _ in block.fresh}
    return fresh.issuperset(program.outputs) and fresh.isdisjoint(program.inputs)


def run_often(Program program not None, dict memory not None, Py_ssize_t times):
    """Run a program that is one block `times` times.

    `memory` says for each slot of its inputs and outputs where it is at first, and how far it moves after even and after odd
    times: (array, bytes, bytes).
    """
    cdef Frame frame = program.frames.pop() if program.frames else Frame(program)
    cdef Block block = (<Step>program.steps[0]).block
    cdef list places = [block.moving[3 * number] for number in range(block.n_moving)]
    cdef Py_ssize_t first = min(places, default=0), n = max(places, default=-1) + 1 - first
    cdef npy_intp *strides = <npy_intp *>PyMem_Calloc(max(2 * n, 1), sizeof(npy_intp))
    cdef dict others = {slot: (np.empty_like(model), 0, 0) for slot, model in block.fresh if slot not in memory}
    cdef Py_ssize_t i, place
    if strides == NULL:
        raise MemoryError()
    try:
        for i in range(block.n_moving):
            place, slot = block.moving[3 * i], block.moving[3 * i + 1]
            array, even, odd = memory[slot] if slot in memory else others[slot]
            frame.addresses[place] = <char *>cnp.PyArray_DATA(<cnp.ndarray?>array) + block.moving[3 * i + 2]
            strides[place - first], strides[n + place - first] = even, odd
        block.run_often(frame.addresses, first, n, strides, times)
    finally:
        PyMem_Free(strides)
        program.frames.append(frame)
