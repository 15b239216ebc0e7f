"""What the processes of test_multiprocessing.py run: functions at the top of a module can be pickled."""

import os

import gradsmith as gs


def write_sum(index, folder, values):
    (folder / str(index)).write_text(str((values * (index + 1)).sum().item()))


def fail(index):
    if index == 1:
        raise ValueError("the second one fails")


def leave(index):
    os._exit(7)


def double(x):
    return gs.tensor(x) * 2


def add_to(index, tensor, module):
    """What a process of Hogwild! training does: it changes the parameters that all processes share."""
    tensor += index + 1
    with gs.no_grad():
        for parameter in module.parameters():
            parameter.add_(1)
