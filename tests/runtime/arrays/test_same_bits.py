"""The same program gives the same bits, whatever is switched on elsewhere and however often it runs."""

import os
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad
from gradsmith.autograd.graph import write_guard
from gradsmith.nn import functional as F


@contextmanager
def in_another_thread(mode):
    """`mode`, entered by a thread that does nothing else until the block ends."""
    entered, done = threading.Event(), threading.Event()

    def hold():
        with mode():
            entered.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


def gradients(dtype):
    """Of everything that has a compiled loop, values and gradients."""
    rng = np.random.default_rng(0)
    x, y = (gs.from_numpy(rng.standard_normal(501).astype(dtype)).requires_grad_() for _ in range(2))
    results = [
        gs.sigmoid(x), gs.tanh(x), gs.div(x, y), x * y, F.silu(x), F.softplus(x), F.gelu(x), gs.erf(x), x.exp().log1p(),
        F.mse_loss(x, y), gs.rsqrt(x * x + 1), (x[::2] * 3).sigmoid(), x.reshape(3, 167).softmax(1), x.var(),
        x.cumsum(0),
    ]  # fmt: skip
    base = x * 1
    base[3:7].sigmoid_()
    total = sum((result * result).sum() for result in [*results, base])
    total.backward()
    return [*(result.detach().numpy() for result in results), x.grad.numpy(), y.grad.numpy()]


MODES = [forward_ad.dual_level, gs.profiler.profile, gs.autograd.detect_anomaly, write_guard, gs.no_grad]


@pytest.mark.filterwarnings("ignore:Anomaly")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.__name__)
def test_a_mode_of_another_thread_changes_no_bit(mode, dtype):
    expected = gradients(dtype)
    with in_another_thread(mode):
        found = gradients(dtype)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


@pytest.mark.filterwarnings("ignore:Anomaly")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", MODES[:-1], ids=lambda mode: mode.__name__)
def test_a_mode_of_this_thread_changes_no_bit(mode, dtype):
    expected = gradients(dtype)
    with mode():
        found = gradients(dtype)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


def test_tangents_still_go_through_the_gradient():
    with forward_ad.dual_level():
        x = gs.tensor([0.5], dtype=gs.float64, requires_grad=True)
        dual = forward_ad.make_dual(x, gs.ones(1, dtype=gs.float64))
        (gradient,) = gs.autograd.grad(gs.sigmoid(dual).sum(), x)
        s = 1 / (1 + np.exp(-0.5))
        assert forward_ad.unpack_dual(gradient).tangent.item() == pytest.approx(s * (1 - s) * (1 - 2 * s))


PROGRAM = """
import numpy as np, gradsmith as gs, hashlib
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for dtype in ("float32", "float64"):
    for m, k, n in ((64, 192, 192), (32, 784, 256), (130, 150, 170), (7, 300, 5)):
        a, b = (gs.from_numpy(rng.standard_normal(s).astype(dtype)) for s in ((m, k), (k, n)))
        digest.update((a @ b).numpy().tobytes())
print(digest.hexdigest())
"""


def test_products_have_the_same_bits_in_every_process():
    with ExitStack() as stack:
        runs = [
            stack.enter_context(subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True))
            for _ in range(3)
        ]
        found = {run.communicate()[0] for run in runs}
    assert len(found) == 1 and found != {""}


TRAINING = """
import hashlib, sys
import numpy as np
import gradsmith as gs
from gradsmith import nn

gs.use_deterministic_algorithms(True)
kept = [np.empty(int(sys.argv[1]) * k + 40, np.uint8) for k in range(1, 40)]  # moves what is allocated next
gs.manual_seed(0)
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for dtype in (gs.float32, gs.float64):
    model = nn.Sequential(
        nn.Linear(40, 96), nn.LayerNorm(96), nn.GELU(), nn.Linear(96, 64), nn.Tanh(), nn.Dropout(0.2),
        nn.Linear(64, 10),
    ).to(dtype=dtype)
    scale = nn.Parameter(gs.ones(3, 40, dtype=dtype))
    optimizer = gs.optim.Adam([*model.parameters(), scale], lr=1e-2)
    data = gs.tensor(rng.standard_normal((300, 40)), dtype=dtype)
    labels = gs.tensor(rng.integers(0, 10, 300))
    for step in range(4):
        x = data[step::4] * scale[step % 3] + gs.sin(data[step::4] * 5)
        loss = nn.functional.cross_entropy(model(x), labels[step::4])
        loss = loss + x.logsumexp(1).mean() + (x.softmax(1) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        digest.update(loss.detach().numpy().tobytes())
    for value in model.state_dict().values():
        digest.update(value.numpy().tobytes())
print(digest.hexdigest())
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_training_has_the_same_bits_in_every_process(threads):
    """Other memory, other hashes of names, other processes beside it."""
    with ExitStack() as stack:
        runs = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", TRAINING, str(padding)], stdout=subprocess.PIPE, text=True,
                    env={**os.environ, "GRADSMITH_NUM_THREADS": threads, "PYTHONHASHSEED": str(padding)},
                )
            )
            for padding in (0, 1008, 4112)
        ]  # fmt: skip
        found = {run.communicate()[0] for run in runs}
    assert len(found) == 1 and found != {""}


def at_offset(array, offset):
    """A copy that begins `offset` elements behind an address that is a multiple of 64."""
    memory = np.empty(array.nbytes + 256, np.uint8)
    first = -memory.ctypes.data % 64 + offset * array.itemsize
    copy = memory[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_where_memory_begins_changes_no_bit(dtype):
    """malloc gives multiples of 16 bytes."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((37, 61)).astype(dtype) for _ in range(2))
    results = {
        tuple(
            f(gs.from_numpy(at_offset(x, offset)), gs.from_numpy(at_offset(y, other))).numpy().tobytes()
            for f in (
                lambda a, b: a.sum(), lambda a, b: a.sum(0), lambda a, b: a.sum(1), lambda a, b: a.softmax(1),
                lambda a, b: a.sigmoid(), lambda a, b: F.silu(a), lambda a, b: a @ b.t(), lambda a, b: F.mse_loss(a, b),
                lambda a, b: a.logsumexp(0), lambda a, b: a.exp(), lambda a, b: a.tanh(), lambda a, b: F.gelu(a),
                lambda a, b: a.var(1), lambda a, b: a.log_softmax(0), lambda a, b: a[0] @ b[0], lambda a, b: a @ b[0],
                lambda a, b: a.prod(1), lambda a, b: F.softplus(a),
            )
        )
        for offset in (0, 2, 4, 8, 12)
        for other in (0, 4)
    }  # fmt: skip
    assert len(results) == 1


@pytest.mark.parametrize("name", ["sgn", "log1p", "reciprocal"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_bits_do_not_depend_on_the_place_of_an_element(name, dtype):
    """Vector functions of the C library and scalar ones differ in their last bits: a loop must not mix them."""
    rng = np.random.default_rng(0)
    data = (rng.normal(size=37) + 1j * rng.normal(size=37)).astype(dtype)
    whole = getattr(gs, name)(gs.tensor(data))
    alone = gs.stack([getattr(gs, name)(gs.tensor(number)) for number in data])
    in_place = getattr(gs.tensor(data), f"{name}_")()
    assert whole.tolist() == alone.tolist() == in_place.tolist()
