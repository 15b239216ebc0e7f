"""What tasks do."""

import os
import signal
import sys
import time

import gradsmith as gs


def identity(x):
    return x


def add(x, y):
    return x + y


def loss(x):
    return ((x - 1) ** 2).sum() + gs.sin(x).prod()


def loss_of_tree(tree, scale=2.0):
    return (tree["w"] * tree["b"][0]).sum() * scale


@gs.value_and_grad
def decorated(x):
    return (x**2).sum()


@gs.no_grad()
def not_recorded(x):
    return x * 2


@gs.no_grad
def without_parentheses(x):
    return x * 2


def slow_where_even(x):
    time.sleep(0.02 if x % 2 == 0 else 0)
    return x


def sleep(seconds):
    time.sleep(seconds)
    return seconds


def fail_at_three(x):
    if x == 3:
        raise ValueError(f"no {x}")
    return x


class Picky(Exception):
    """Cannot be made again from what it keeps."""

    def __init__(self, code, text):
        super().__init__(text)


def fail_pickily(x):
    raise Picky(7, f"picky about {x}")


def fail_with_local_class(x):
    class Local(Exception):
        pass

    raise Local("of nobody else's")


def exit_once(x, at, marker):
    """Ends the worker the first time that it comes to `at`."""
    if x == at and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(3)
    return x


def exit_once_beside(data, x, at, marker):
    return exit_once(x, at, marker)


def kill_self(x):
    if x == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def leave(x):
    sys.exit(5)


def with_history(x):
    w = gs.ones(2, requires_grad=True)
    return {"loss": w * x}


def draw(x):
    return gs.randn(3)


def draw_elsewhere(x):
    import random

    import numpy as np

    return random.random(), np.random.random()


def state(x):
    return {
        "grad": gs.is_grad_enabled(),
        "inference": gs.is_inference_mode_enabled(),
        "dtype": gs.get_default_dtype(),
        "device": str(gs.get_default_device()),
        "anomaly": gs.autograd.is_anomaly_enabled(),
    }


def threads(x):
    return gs.get_num_threads()


def inner(x):
    return sum(gs.parallel.map(identity, range(x), backend="threads", workers=2))


def inner_in_processes(x):
    return sum(gs.parallel.map(identity, range(x), backend="processes", workers=1))


def pid(x):
    return os.getpid()


def write_to(array):
    array[0] = 7.0
    return array


def say(x):
    print("said", x)


def interrupts(x):
    """What Ctrl-C in a terminal does to a worker."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
    return x
