"""What a step computes: against the rules over NumPy, and bit by bit against the formulas of ops."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.optim.updates import UpdateRule
from tests.optim.rules import CASES, SETTINGS, rule_of

STEPS = 12


def gradients(shape, count=STEPS, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 1, shape) for _ in range(count)]


def columns(array):
    return gs.from_numpy(np.asfortranarray(array))


def spread(array):
    """The same elements, with gaps between them."""
    wide = np.zeros([2 * size for size in array.shape], array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return gs.from_numpy(view)


LAYOUTS = {"rows": gs.tensor, "columns": columns, "gaps": spread}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name, settings", CASES)
def test_steps_follow_the_rule(name, settings, layout):
    start = np.random.default_rng(1).normal(size=(3, 5))
    p = LAYOUTS[layout](start.copy()).requires_grad_()
    optimizer = getattr(gs.optim, name)([p], **settings)
    rule = rule_of(optimizer, start)
    for g in gradients(start.shape):
        p.grad = LAYOUTS["gaps" if layout == "columns" else layout](g)
        optimizer.step()
        rule.step(g)
    np.testing.assert_allclose(p.detach().numpy(), rule.p, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("name, settings", CASES)
def test_loops_give_the_bits_of_the_formulas(name, settings, dtype):
    """Also where a parameter is longer than a vector of the machine, or shorter."""
    rng = np.random.default_rng(2)
    starts = [rng.normal(size=shape).astype(dtype) for shape in ((), (3,), (37,), (5, 16))]
    looped, computed = ([gs.tensor(start, requires_grad=True) for start in starts] for _ in range(2))
    first, second = (getattr(gs.optim, name)(params, **settings) for params in (looped, computed))
    for seed in range(STEPS):
        for p, q in zip(looped, computed):
            (real,), (imaginary,) = gradients(p.shape, 1, seed), gradients(p.shape, 1, seed + 100)
            g = np.asarray(real + 1j * imaginary if dtype is np.complex64 else real, dtype)
            p.grad, q.grad = gs.tensor(g), gs.tensor(g)
        first.step()
        with gs.no_grad():
            second._recorded_step()
        for p, q in zip(looped, computed):
            assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()
            for state, value in first.state[p].items():
                assert value.numpy().tobytes() == second.state[q][state].numpy().tobytes(), state


def laid_out_at_random(array, rng):
    """A tensor of the same elements, whose dimensions lie in any order and direction, with gaps or without."""
    order = rng.permutation(array.ndim)
    steps = rng.integers(1, 4, array.ndim)
    wide = np.zeros([size * step for size, step in zip(np.array(array.shape)[order], steps)], array.dtype)
    view = wide[tuple(slice(None, None, int(step)) for step in steps)].transpose(np.argsort(order))
    view = view[tuple(slice(None, None, int(rng.choice([1, -1]))) for _ in range(array.ndim))]
    view[...] = array
    return gs.from_numpy(view)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("name", SETTINGS)
def test_elements_are_found_wherever_they_lie(name, dtype):
    rng = np.random.default_rng(7)
    for shape in ((3, 2, 5), (1, 300), (4, 1), (2, 0, 3), (700,)):
        start = rng.normal(size=shape).astype(dtype)
        if dtype is np.complex128:
            start += 1j * rng.normal(size=shape)
        params = [laid_out_at_random(start, rng).requires_grad_(), gs.tensor(start, requires_grad=True)]
        optimizers = [getattr(gs.optim, name)([p], **SETTINGS[name][-1]) for p in params]
        for seed in range(3):
            g = gradients(shape, 1, seed)[0].astype(dtype)
            params[0].grad, params[1].grad = laid_out_at_random(g, rng), gs.tensor(g)
            for optimizer in optimizers:
                optimizer.step()
            state = optimizers[0].state[params[0]]
            for key in state if seed == 0 else ():
                if state[key].ndim:
                    state[key] = laid_out_at_random(state[key].numpy(), rng)
        np.testing.assert_array_equal(*(p.detach().numpy() for p in params))


@pytest.mark.parametrize("name", SETTINGS)
def test_float16_is_rounded_only_in_the_end(name):
    start = np.random.default_rng(3).normal(size=20).astype(np.float16)
    half, single = (gs.tensor(start.astype(dtype), requires_grad=True) for dtype in (np.float16, np.float32))
    optimizers = [getattr(gs.optim, name)([p]) for p in (half, single)]
    for p, optimizer in zip((half, single), optimizers):
        p.grad = gs.tensor(gradients(start.shape, 1)[0].astype(np.float16)).to(p.dtype)
        optimizer.step()
    np.testing.assert_array_equal(half.detach().numpy(), single.detach().numpy().astype(np.float16))


@pytest.mark.parametrize("name", SETTINGS)
def test_complex_parameters_are_pairs_of_real_ones(name):
    rng = np.random.default_rng(4)
    start = rng.normal(size=(4, 2))
    settings = SETTINGS[name][1]
    pair = gs.tensor(start, requires_grad=True)
    number = gs.tensor(start[:, 0] + 1j * start[:, 1], requires_grad=True)
    optimizers = [getattr(gs.optim, name)([p], **settings) for p in (pair, number)]
    for g in gradients(start.shape):
        pair.grad, number.grad = gs.tensor(g), gs.tensor(g[:, 0] + 1j * g[:, 1])
        for optimizer in optimizers:
            optimizer.step()
    np.testing.assert_array_equal(number.detach().numpy().view(np.float64).reshape(4, 2), pair.detach().numpy())


@pytest.mark.parametrize("name", SETTINGS)
def test_infinities_and_nan_stay_where_they_are(name):
    p = gs.tensor([1.0, 1.0, 1.0, -gs.inf], requires_grad=True)
    optimizer = getattr(gs.optim, name)([p])
    for _ in range(3):
        p.grad = gs.tensor([0.5, gs.nan, 0.0, 0.0])
        optimizer.step()
    found = p.detach().numpy()
    assert np.isfinite(found[[0, 2]]).all() and np.isnan(found[1]) and not np.isfinite(found[3])


@pytest.mark.parametrize("settings", [{}, {"amsgrad": True}])
def test_large_parameters_on_several_threads(settings):
    rng = np.random.default_rng(5)
    starts = [rng.normal(size=shape).astype(np.float32) for shape in ((100_003,), (7,), (300, 301), (0, 4))]
    states = []
    before = gs.get_num_threads()
    for threads in (1, 4):
        gs.set_num_threads(threads)
        params = [gs.tensor(start, requires_grad=True) for start in starts]
        params[2] = columns(starts[2].copy()).requires_grad_()
        optimizer = gs.optim.Adam(params, **settings)
        for seed in range(3):
            for p in params:
                p.grad = gs.tensor(np.random.default_rng(seed).normal(size=p.shape).astype(np.float32))
            optimizer.step()
        states.append([p.detach().numpy().copy() for p in params])
    gs.set_num_threads(before)
    for one, several in zip(*states):
        np.testing.assert_array_equal(one, several)


def test_the_numbers_of_a_tensor_are_settings_too():
    p, q = (gs.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    by_tensor = gs.optim.Adam([p], lr=gs.tensor(0.5), betas=(gs.tensor(0.5), gs.tensor(0.25)))
    by_float = gs.optim.Adam([q], lr=0.5, betas=(0.5, 0.25))
    for _ in range(3):
        p.grad, q.grad = gs.tensor([1.0, 2.0]), gs.tensor([1.0, 2.0])
        by_tensor.step()
        by_float.step()
    assert p.tolist() == q.tolist()


@pytest.mark.parametrize(
    "loop, counters, states",
    [
        ("adam", ("step",), ("exp_avg",)),
        ("adam", ("step",), ("exp_avg", ("exp_avg_sq", "amsgrad"))),
        ("adam", ("step",), ("a", "b", "c", "d")),
        ("adam", (), ("exp_avg", "exp_avg_sq")),
        ("adan", ("step",), ("exp_avg", "exp_avg_sq")),
    ],
)
def test_a_rule_has_what_its_loop_needs(loop, counters, states):
    settings = ("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize")
    with pytest.raises(ValueError, match=loop):
        UpdateRule(loop, settings, counters, states)


def test_states_come_and_go_with_the_settings_of_their_group():
    p, q = (gs.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    optimizer = gs.optim.SGD([{"params": [p]}, {"params": [q], "momentum": 0.5}], lr=0.25)
    p.grad, q.grad = gs.ones(2), gs.ones(2)
    optimizer.step()
    assert list(optimizer.state) == [q] and q.tolist() == [0.75, -2.25]
    optimizer.param_groups[0]["momentum"], optimizer.param_groups[1]["momentum"] = 1.0, 0.0
    optimizer.step()
    optimizer.step()
    assert set(optimizer.state) == {p, q} and p.tolist() == [0.0, -3.0] and q.tolist() == [0.25, -2.75]
