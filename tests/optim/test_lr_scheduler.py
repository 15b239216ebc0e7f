"""Schedules of learning rates: against closed forms, step by step, alone and combined, saved and loaded."""

import math
import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.optim import lr_scheduler as schedules

STEPS = 24


def optimizer_of(*rates, **settings):
    groups = [{"params": [gs.zeros(1).requires_grad_()], "lr": rate} for rate in rates or (1.0,)]
    return gs.optim.SGD(groups, lr=0.5, **{"momentum": 0.9, **settings})


def rates_of(scheduler, steps=STEPS, *args):
    """The rates of the first group at each step."""
    found = [scheduler.get_last_lr()[0]]
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step(*args)
        assert scheduler.get_last_lr() == [group["lr"] for group in scheduler.optimizer.param_groups]
        found.append(scheduler.get_last_lr()[0])
    return found


def half_cosine(part):
    return (1 + math.cos(math.pi * part)) / 2


# (a schedule of an optimizer whose rate is 1, the rate at step t)
CLOSED = {
    "LambdaLR": (lambda o: schedules.LambdaLR(o, lambda t: 0.9**t), lambda t: 0.9**t),
    "MultiplicativeLR": (lambda o: schedules.MultiplicativeLR(o, lambda t: 1 / t), lambda t: 1 / math.factorial(t)),
    "StepLR": (lambda o: schedules.StepLR(o, 3, 0.5), lambda t: 0.5 ** (t // 3)),
    "MultiStepLR": (
        lambda o: schedules.MultiStepLR(o, [5, 2, 5, 11], 0.5),
        lambda t: 0.5 ** ((t >= 2) + 2 * (t >= 5) + (t >= 11)),
    ),
    "ConstantLR": (lambda o: schedules.ConstantLR(o, 0.25, 4), lambda t: 0.25 if t < 4 else 1.0),
    "ConstantLR of zero": (lambda o: schedules.ConstantLR(o, 0, 4), lambda t: 0.0 if t < 4 else 1.0),
    "LinearLR": (lambda o: schedules.LinearLR(o, 0.2, 0.8, 6), lambda t: 0.2 + 0.6 * min(t, 6) / 6),
    "ExponentialLR": (lambda o: schedules.ExponentialLR(o, 0.9), lambda t: 0.9**t),
    "PolynomialLR": (lambda o: schedules.PolynomialLR(o, 8, 2.0), lambda t: (1 - min(t, 8) / 8) ** 2),
    "CosineAnnealingLR": (
        lambda o: schedules.CosineAnnealingLR(o, 5, 0.1),
        lambda t: 0.1 + 0.9 * half_cosine(t / 5),
    ),
    "CosineAnnealingWarmRestarts": (
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 2, 2, 0.1),
        lambda t: 0.1 + 0.9 * half_cosine((t + 2 - 2 ** int(math.log2(t + 2))) / 2 ** int(math.log2(t + 2))),
    ),
    "CyclicLR": (
        lambda o: schedules.CyclicLR(o, 0.1, 0.5, 4, 2),
        lambda t: np.interp(t % 6, [0, 4, 6], [0.1, 0.5, 0.1]),
    ),
    "CyclicLR, halved": (
        lambda o: schedules.CyclicLR(o, 0.1, 0.5, 3, mode="triangular2"),
        lambda t: 0.1 + np.interp(t % 6, [0, 3, 6], [0, 0.4, 0]) * 0.5 ** (t // 6),
    ),
    "CyclicLR, falling": (
        lambda o: schedules.CyclicLR(o, 0.1, 0.5, 3, mode="exp_range", gamma=0.9),
        lambda t: 0.1 + np.interp(t % 6, [0, 3, 6], [0, 0.4, 0]) * 0.9**t,
    ),
    "CyclicLR by a function": (
        lambda o: schedules.CyclicLR(o, 0.1, 0.5, 3, scale_fn=lambda cycle: 1 / cycle),
        lambda t: 0.1 + np.interp(t % 6, [0, 3, 6], [0, 0.4, 0]) / (t // 6 + 1),
    ),
    "OneCycleLR": (
        lambda o: schedules.OneCycleLR(o, 0.5, 25, pct_start=0.4),
        lambda t: 0.5 - 0.48 * half_cosine(t / 9) if t <= 9 else 2e-6 + (0.5 - 2e-6) * half_cosine((t - 9) / 15),
    ),
    "OneCycleLR of three phases": (
        lambda o: schedules.OneCycleLR(
            o, 0.5, epochs=5, steps_per_epoch=5, pct_start=0.4, three_phase=True, anneal_strategy="linear"
        ),
        lambda t: np.interp(t, [0, 9, 18, 24], [0.02, 0.5, 0.02, 2e-6]),
    ),
    "SWALR": (
        lambda o: gs.optim.swa_utils.SWALR(o, 0.1, anneal_epochs=4),
        lambda t: 0.1 + 0.9 * half_cosine(min(t, 4) / 4),
    ),
    "ChainedScheduler": (
        lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.1, 3), schedules.ExponentialLR(o, 0.9)]),
        lambda t: 0.9**t * (0.1 if t < 3 else 1),
    ),
    "SequentialLR": (
        lambda o: schedules.SequentialLR(
            o, [schedules.ConstantLR(o, 0.1, 20), schedules.ExponentialLR(o, 0.9), schedules.StepLR(o, 2)], [3, 9]
        ),
        lambda t: 0.1 if t < 3 else 0.9 ** (t - 3) if t < 9 else 0.1 ** ((t - 9) // 2),
    ),
    "SequentialLR with a chain": (
        lambda o: schedules.SequentialLR(
            o,
            [
                schedules.ChainedScheduler([schedules.ExponentialLR(o, 0.5), schedules.StepLR(o, 2, 0.5)]),
                schedules.ChainedScheduler([schedules.ConstantLR(o, 0.1, 2), schedules.ExponentialLR(o, 0.9)]),
            ],
            [4],
        ),
        lambda t: 0.5 ** (t + t // 2) if t < 4 else 0.9 ** (t - 4) * (0.1 if t < 6 else 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_rates_step_by_step(name):
    make, rate = CLOSED[name]
    found = rates_of(make(optimizer_of(1.0)))
    np.testing.assert_allclose(found, [rate(t) for t in range(STEPS + 1)], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", CLOSED)
def test_a_saved_schedule_goes_on(name):
    make, _ = CLOSED[name]
    whole = rates_of(make(optimizer_of(1.0)))
    first = make(optimizer_of(1.0))
    rates_of(first, 7)
    second = make(optimizer_of(1.0))
    second.load_state_dict(first.state_dict())
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    assert rates_of(second, STEPS - 7) == whole[7:]


@pytest.mark.parametrize("name", CLOSED)
def test_rates_that_are_tensors_are_changed_in_place(name):
    make, _ = CLOSED[name]
    optimizer = optimizer_of(gs.tensor(1.0, dtype=gs.float64))
    rate = optimizer.param_groups[0]["lr"]
    scheduler = make(optimizer)
    expected = make(optimizer_of(1.0))
    for _ in range(5):
        optimizer.step()
        expected.optimizer.step()
        scheduler.step()
        expected.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == pytest.approx(expected.get_last_lr()[0])
    (last,) = scheduler.get_last_lr()
    assert last is not rate and last.item() == rate.item()


def test_groups_have_rates_of_their_own():
    optimizer = optimizer_of(1.0, 0.5)
    scheduler = schedules.LambdaLR(optimizer, [lambda t: 0.5**t, lambda t: 1 + t])
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5, 1.0] and scheduler.base_lrs == [1.0, 0.5]
    assert [group["initial_lr"] for group in optimizer.param_groups] == [1.0, 0.5]


@pytest.mark.parametrize("name", ["StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR",
                                  "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "LambdaLR"])  # fmt: skip
def test_going_to_a_step(name):
    make, rate = CLOSED[name]
    scheduler = make(optimizer_of(1.0))
    scheduler.optimizer.step()
    for t in (3, 1, 7, 0, 12):
        if name == "CosineAnnealingWarmRestarts":
            scheduler.step(t)
        else:
            with pytest.warns(UserWarning, match="The epoch parameter"):
                scheduler.step(t)
        assert scheduler.get_last_lr()[0] == pytest.approx(rate(t))


def test_warm_restarts_between_steps():
    scheduler = schedules.CosineAnnealingWarmRestarts(optimizer_of(1.0), 4)
    for part in (0.5, 2.25, 6.75):
        scheduler.step(part)
        assert scheduler.get_last_lr()[0] == pytest.approx(half_cosine(part % 4 / 4))
    with pytest.raises(ValueError, match="Expected non-negative epoch, but got -1"):
        scheduler.step(-1)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_momentum_goes_the_other_way(kind):
    p = gs.zeros(1).requires_grad_()
    optimizer = gs.optim.SGD([p], momentum=0.5) if kind == "SGD" else gs.optim.Adam([p])
    scheduler = schedules.CyclicLR(optimizer, 0.1, 0.5, 2, base_momentum=0.6, max_momentum=0.8)
    group = optimizer.param_groups[0]
    found = []
    for _ in range(4):
        found.append(group["momentum"] if kind == "SGD" else group["betas"][0])
        optimizer.step()
        scheduler.step()
    np.testing.assert_allclose(found, [0.8, 0.7, 0.6, 0.7])
    assert kind == "SGD" or group["betas"][1] == 0.999


def test_a_run_that_is_taken_up_again():
    optimizer = optimizer_of(1.0)
    with pytest.raises(KeyError, match=r"'initial_lr' is not specified in param_groups\[0\]"):
        schedules.StepLR(optimizer, 3, last_epoch=4)
    optimizer.param_groups[0].update(initial_lr=1.0, lr=0.1)
    scheduler = schedules.StepLR(optimizer, 3, last_epoch=4)
    assert scheduler.last_epoch == 5 and scheduler.get_last_lr() == [0.1]
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [pytest.approx(0.01)]


# ---- plateaus


def plateau(numbers, **settings):
    scheduler = schedules.ReduceLROnPlateau(optimizer_of(1.0, 0.5), **{"factor": 0.5, **settings})
    found = []
    for number in numbers:
        scheduler.step(number)
        found.append(scheduler.get_last_lr()[0])
    return found


@pytest.mark.parametrize(
    "settings, numbers, rates",
    [
        ({"patience": 1}, [3, 2, 2, 2, 2, 2], [1, 1, 1, 0.5, 0.5, 0.25]),
        ({"patience": 0, "mode": "max"}, [1, 2, 1, 3], [1, 1, 0.5, 0.5]),
        ({"patience": 0, "cooldown": 2}, [1, 1, 1, 1, 1, 1], [1, 0.5, 0.5, 0.5, 0.25, 0.25]),
        ({"patience": 0, "threshold": 0.5}, [8, 5, 4, 3], [1, 0.5, 0.25, 0.25]),
        ({"patience": 0, "threshold": 0.5, "threshold_mode": "abs"}, [8, 7.6, 7.4, 6], [1, 0.5, 0.5, 0.5]),
        ({"patience": 0, "threshold": 0.5, "mode": "max"}, [2, 2.5, 4], [1, 0.5, 0.5]),
        ({"patience": 0, "threshold": 1, "threshold_mode": "abs", "mode": "max"}, [2, 2.5, 4], [1, 0.5, 0.5]),
        ({"patience": 0, "min_lr": 0.4}, [1, 1, 1], [1, 0.5, 0.4]),
        ({"patience": 0, "min_lr": [0.7, 0.1]}, [1, 1, 1], [1, 0.7, 0.7]),
        ({"patience": 0, "eps": 0.6}, [1, 1, 1], [1, 1, 1]),
        ({"patience": 0, "eps": 0.5}, [1, 1, 1], [1, 1, 1]),
        ({"patience": 0, "eps": 0.25}, [1, 1, 1, 1], [1, 0.5, 0.5, 0.5]),
        ({"patience": 0}, [gs.tensor(1.0), math.nan, 0], [1, 0.5, 0.5]),
    ],
)
def test_plateaus(settings, numbers, rates):
    assert plateau(numbers, **settings) == rates


def test_plateaus_with_more_groups_than_before():
    for least in (0.0, [0.0, 0.0]):
        scheduler = schedules.ReduceLROnPlateau(optimizer_of(1.0, 1.0), patience=0, min_lr=least)
        scheduler.optimizer.add_param_group({"params": gs.zeros(1)})
        scheduler.step(1)
        if isinstance(least, list):
            with pytest.raises(RuntimeError, match=r"param groups in the `optimizer` \(3\) differs"):
                scheduler.step(1)
        else:
            scheduler.step(1)
            assert len(scheduler.get_last_lr()) == 3


def test_a_saved_plateau_goes_on():
    first = schedules.ReduceLROnPlateau(optimizer_of(1.0), patience=1, mode="max")
    first.step(2)
    first.step(1)
    second = schedules.ReduceLROnPlateau(optimizer_of(1.0))
    second.load_state_dict(first.state_dict())
    second.step(1)
    assert second.get_last_lr() == [0.1] and not second.in_cooldown


# ---- what is said


def test_the_order_of_steps():
    scheduler = schedules.StepLR(optimizer_of(1.0), 2)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()
    scheduler = schedules.StepLR(optimizer_of(1.0), 2)
    scheduler.optimizer.step = lambda: None
    with pytest.warns(UserWarning, match=r"`optimizer.step\(\)` has been overridden"):
        scheduler.step()
    scheduler = schedules.StepLR(optimizer_of(1.0), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rates_of(scheduler, 3)
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`"):
        scheduler.get_lr()


def test_functions_that_are_objects_keep_their_attributes():
    class Falling:
        def __init__(self, base):
            self.base = base

        def __call__(self, t):
            return self.base**t

    for make in (schedules.LambdaLR, schedules.MultiplicativeLR):
        first, second = make(optimizer_of(1.0), Falling(0.5)), make(optimizer_of(1.0), Falling(0.9))
        second.load_state_dict(first.state_dict())
        assert second.lr_lambdas[0].base == 0.5
        assert make(optimizer_of(1.0), lambda t: 1.0).state_dict()["lr_lambdas"] == [None]
    cycles = [schedules.CyclicLR(optimizer_of(1.0), 0, 1, scale_fn=Falling(base)) for base in (0.5, 0.9)]
    cycles[1].load_state_dict(cycles[0].state_dict())
    assert cycles[1].scale_fn(2) == 0.25


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda o: schedules.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda o: schedules.ReduceLROnPlateau(3), TypeError, "int is not an Optimizer"),
        (lambda o: schedules.CyclicLR(3, 0, 1), TypeError, "int is not an Optimizer"),
        (lambda o: schedules.LambdaLR(o, [abs, abs]), ValueError, "Expected 1 lr_lambdas, but got 2"),
        (lambda o: schedules.MultiplicativeLR(o, 3), TypeError, "lr_lambda should be a function, but got int"),
        (lambda o: schedules.ConstantLR(o, 2), ValueError, "expected to be between 0 and 1"),
        (lambda o: schedules.LinearLR(o, 0), ValueError, "greater than 0 and less or equal to 1"),
        (lambda o: schedules.LinearLR(o, 0.5, 2), ValueError, "Ending multiplicative factor"),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 0), ValueError, "Expected positive integer T_0, but got 0"),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 0.5), ValueError, "integer T_mult >= 1, but got 0.5"),
        (lambda o: schedules.CosineAnnealingWarmRestarts(o, 1, 1, "0"), ValueError, "Expected float or int eta_min"),
        (lambda o: schedules.CyclicLR(o, 0, 1, mode="square"), ValueError, "mode is invalid and scale_fn is None"),
        (lambda o: schedules.CyclicLR(o, [0, 1], 1), ValueError, "base_lr must have the same length"),
        (lambda o: schedules.OneCycleLR(o, 1), ValueError, r"either total_steps OR \(epochs AND steps_per_epoch\)"),
        (lambda o: schedules.OneCycleLR(o, 1, 0), ValueError, "positive integer total_steps, but got 0"),
        (lambda o: schedules.OneCycleLR(o, 1, epochs=1, steps_per_epoch=0.5), ValueError, "integer steps_per_epoch"),
        (lambda o: schedules.OneCycleLR(o, 1, 9, pct_start=2.0), ValueError, "between 0 and 1 pct_start, but got 2.0"),
        (lambda o: schedules.OneCycleLR(o, 1, 9, anneal_strategy="x"), ValueError, "must be one of 'cos' or 'linear'"),
        (lambda o: schedules.ReduceLROnPlateau(o, "least"), ValueError, "mode least is unknown!"),
        (lambda o: schedules.ReduceLROnPlateau(o, threshold_mode="x"), ValueError, "threshold mode x is unknown!"),
        (lambda o: schedules.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0."),
        (lambda o: schedules.ReduceLROnPlateau(o, min_lr=[0, 0]), ValueError, "expected 1 min_lrs, got 2"),
        (lambda o: schedules.SequentialLR(o, [], []), ValueError, "expects at least one scheduler"),
        (lambda o: schedules.SequentialLR(o, [schedules.StepLR(o, 1)], [3]), ValueError, "one more than the number"),
        (lambda o: schedules.ChainedScheduler([]), ValueError, "at least one scheduler to be chained"),
        (lambda o: schedules.ChainedScheduler([3]), TypeError, "index 0 should have `optimizer` as its attribute"),
        (lambda o: schedules.ChainedScheduler([schedules.ReduceLROnPlateau(o)]), ValueError, "does not support"),
        (
            lambda o: schedules.ChainedScheduler([schedules.StepLR(optimizer_of(1.0), 1)], o),
            ValueError,
            "expects all schedulers to belong to the same optimizer",
        ),
        (lambda o: gs.optim.swa_utils.SWALR(o, 1, anneal_epochs=-1), ValueError, "equal or greater than 0, got -1"),
        (lambda o: gs.optim.swa_utils.SWALR(o, 1, anneal_strategy="x"), ValueError, "must be one of"),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make(optimizer_of(1.0))


def test_momentum_that_an_optimizer_does_not_have():
    optimizer = gs.optim.Adagrad([gs.zeros(1).requires_grad_()])
    for make, arguments in ((schedules.CyclicLR, (0, 1)), (schedules.OneCycleLR, (1, 9))):
        with pytest.raises(ValueError, match="must support momentum or beta1"):
            make(optimizer, *arguments)
        make(optimizer, *arguments, cycle_momentum=False)


def test_more_steps_than_there_are():
    scheduler = schedules.OneCycleLR(optimizer_of(1.0), 1.0, 5)
    rates_of(scheduler, 5)
    with pytest.raises(ValueError, match="Tried to step 6 times. The specified number of total steps is 5"):
        scheduler.step()
