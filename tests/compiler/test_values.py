"""Code that depends on values, without Python that looks at them: programs do what eager does, for other values too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.distributions as dist
import gradsmith.nn.functional as F
from gradsmith import nn, optim
from gradsmith.compiler import TraceError
from gradsmith.nn.utils import clip_grad_norm_
from gradsmith.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, unpad_sequence
from gradsmith.optim import lr_scheduler, swa_utils
from gradsmith.scipy import linalg

CALLS = 4


def numbers(*shape: int, seed: int = 0) -> Any:
    return gs.tensor(np.random.default_rng(seed).standard_normal(shape))


def arrays(found: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(found, gs.Tensor):
        return [found.detach().numpy().copy()]
    return [array for one in found for array in arrays(one)]


def expect_alike(function: Callable[..., Any], inputs: Callable[[int], Any], programs: int = 1) -> None:
    """The bits of eager in each of some calls, and so many programs."""
    compiled = gs.compile(function)
    for seed in range(CALLS):
        gs.manual_seed(seed)
        found = arrays(compiled(*inputs(seed)))
        gs.manual_seed(seed)
        expected = arrays(function(*inputs(seed)))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(compiled.programs) == programs


# ---- bags


def rows_and_offsets(seed: int, include_last: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    inner = np.sort(rng.integers(0, 10, 3))
    return gs.tensor(rng.integers(0, 6, 9)), gs.tensor([0, *inner, *([8] if include_last else [])])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize(
    "options",
    [{}, {"padding_idx": 1}, {"include_last_offset": True}, {"max_norm": 0.7, "padding_idx": -2}],
    ids=["plain", "padding", "last", "norm"],
)
def test_bags(mode: str, options: Any) -> None:
    """Also with offsets, and gradients of the table."""

    def step(table: Any, rows: Any, offsets: Any) -> Any:
        values = F.embedding_bag(rows, table.clone(), offsets, mode=mode, **options)
        return values, gs.autograd.grad((values * values).sum(), table)

    def inputs(seed: int) -> Any:
        rows, offsets = rows_and_offsets(seed, "include_last_offset" in options)
        return numbers(6, 3, seed=seed).requires_grad_("max_norm" not in options), rows, offsets

    if "max_norm" in options:
        step = lambda *given: F.embedding_bag(given[1], given[0].clone(), given[2], mode=mode, **options)  # noqa: E731
    expect_alike(step, inputs)


@pytest.mark.parametrize("offsets", [[1, 2], [0, 10], [0, 5, 3]])
def test_offsets_that_are_wrong(offsets: list[int]) -> None:
    compiled = gs.compile(lambda offsets: F.embedding_bag(gs.tensor([0, 1, 0]), gs.ones(2, 2), offsets, mode="sum"))
    with pytest.raises((RuntimeError, IndexError)):
        compiled(gs.tensor(offsets))
    compiled(gs.tensor([0, 1, 2][: len(offsets)]))
    with pytest.raises((RuntimeError, IndexError)):
        compiled(gs.tensor(offsets))


def test_one_hot() -> None:
    expect_alike(lambda x: F.one_hot(x, 6), lambda seed: (gs.tensor([seed, 5 - seed]),))
    compiled = gs.compile(lambda x: F.one_hot(x, 3))
    for _ in range(2):
        compiled(gs.tensor([0, 2]))
        for wrong in (-1, 3):
            with pytest.raises((RuntimeError, IndexError)):
                compiled(gs.tensor([0, wrong]))
    with pytest.raises(TraceError, match="give num_classes"):
        gs.compile(F.one_hot)(gs.tensor([0, 2]))


def test_writes_by_a_mask() -> None:
    def step(x: Any, y: Any) -> Any:
        z = x * y
        z[z < 0] = 0
        return z, *gs.autograd.grad((z * z).sum(), (x, y))

    expect_alike(
        step, lambda seed: [numbers(4, 3, seed=seed).requires_grad_(), numbers(4, 3, seed=seed + 9).requires_grad_()]
    )


# ---- sequences of several lengths


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_packed_sequences_of_lengths_in_a_list(kind: str) -> None:
    layer = getattr(nn, kind)(3, 4).double()

    def step(x: Any, lengths: list[int]) -> Any:
        output, state = layer(pack_padded_sequence(x, lengths, enforce_sorted=False))
        padded, found = pad_packed_sequence(output)
        return padded, found, state, *unpad_sequence(padded, lengths)

    lengths = [[5, 3], [3, 5], [5, 3], [3, 5]]
    expect_alike(step, lambda seed: (numbers(5, 2, 3, seed=seed), lengths[seed]), programs=2)


def test_lengths_in_a_tensor_say_what_to_do() -> None:
    with pytest.raises(
        TraceError, match=r"depend on 'lengths'.*lengths\.tolist\(\).*a program of its own.*test_values"
    ):
        gs.compile(lambda x, lengths: pack_padded_sequence(x, lengths).data)(numbers(5, 2), gs.tensor([5, 3]))


def alignments(log_probs: Any, targets: Any, steps: Any, counts: Any) -> Any:
    losses = F.ctc_loss(log_probs, targets, steps, counts, reduction="none")
    total = F.ctc_loss(log_probs, targets, steps, counts, zero_infinity=True)
    return losses, *gs.autograd.grad(losses.sum() + total, log_probs)


def alignment_inputs(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    log_probs = numbers(8, 3, 5, seed=seed).log_softmax(2).requires_grad_()
    lengths = gs.tensor(rng.integers(5, 9, 3)), gs.tensor(rng.integers(1, 5, 3))
    return log_probs, gs.tensor(rng.integers(1, 5, (3, 4))), *lengths


def test_alignments_of_lengths_in_tensors() -> None:
    expect_alike(alignments, alignment_inputs)
    compiled = gs.compile(F.ctc_loss)
    log_probs, targets, steps, counts = alignment_inputs(0)
    for _ in range(2):
        compiled(log_probs, targets, steps, counts)
        with pytest.raises(RuntimeError, match="input_lengths|steps"):
            compiled(log_probs, targets, steps + 9, counts)


def test_alignments_of_captured_lengths() -> None:
    _, targets, steps, counts = alignment_inputs(0)
    compiled = gs.compile(lambda log_probs: F.ctc_loss(log_probs, targets, steps, counts))
    for number in range(CALLS):
        counts[0] = number + 1
        log_probs = alignment_inputs(number)[0]
        assert compiled(log_probs) == F.ctc_loss(log_probs, targets, steps, counts)


def test_classes_in_clusters() -> None:
    """Each cluster has all rows in a program, so that sums are of other parts."""
    layer = nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7], div_value=2).double()
    compiled = gs.compile(layer.forward)
    for seed in range(CALLS):
        x, target = (
            numbers(5, 6, seed=seed),
            gs.tensor(np.random.default_rng(seed).integers(0, [12, 3, 7, 12][seed], 5)),
        )
        gradients = []
        for run in (compiled, layer):
            layer.zero_grad()
            values, loss = run(x, target)
            (loss + values.sum()).backward()
            slopes = [gs.zeros_like(p) if p.grad is None else p.grad for p in layer.parameters()]
            gradients.append([one.detach().numpy().copy() for one in (loss, values, *slopes)])
        for found, expected in zip(*gradients):
            np.testing.assert_allclose(found, expected, 1e-12, 1e-14)
    for wrong in (-1, 12):
        with pytest.raises((RuntimeError, IndexError)):
            compiled(numbers(5, 6), gs.full((5,), wrong, dtype=gs.int64))


# ---- draws


@pytest.mark.parametrize(
    "make",
    [dist.Bernoulli, dist.Exponential, dist.Geometric, dist.HalfCauchy, lambda x: dist.Uniform(-x, x),
     lambda x: dist.Cauchy(0.5, x), lambda x: dist.Laplace(x, x), lambda x: dist.Gumbel(x, x),
     lambda x: dist.RelaxedBernoulli(0.5, x)],
)  # fmt: skip
def test_samples(make: Any) -> None:
    expect_alike(lambda x: make(x).sample((2,)), lambda seed: ((numbers(3, seed=seed).abs() + 0.1).clamp(max=0.9),))


def test_zeros_and_ones_have_the_history_of_their_chances() -> None:
    def step(chances: Any) -> Any:
        drawn = gs.bernoulli(chances)
        return drawn, *gs.autograd.grad((drawn * 2).sum() + chances.sum(), chances)

    expect_alike(step, lambda seed: (numbers(4, seed=seed).sigmoid().requires_grad_(),))
    assert gs.compile(gs.bernoulli)(gs.full((2,), 0.5, requires_grad=True)).requires_grad


def test_divergence_of_counts() -> None:
    """Fewer trials than the other has is an error in eager, and NaN where nothing may ask."""

    def divergence(trials: Any, p: Any) -> Any:
        return dist.kl_divergence(dist.Binomial(trials, p), dist.Binomial(4, p * 0.5))

    expect_alike(divergence, lambda seed: (gs.tensor([4.0, 4.0 + seed]), numbers(2, seed=seed).sigmoid()))
    assert gs.compile(divergence)(gs.tensor([4.0, 3.0]), numbers(2).sigmoid()).isnan().tolist() == [False, True]


def test_draws_without_parameters() -> None:
    expect_alike(
        lambda x: (x * gs.random.standard_cauchy(3), gs.random.permuted(x, axis=0)), lambda seed: (numbers(3),)
    )
    with pytest.raises(TraceError):
        gs.compile(lambda p: gs.random.choice(3, 2, p=p))(gs.tensor([0.5, 0.25, 0.25]))


# ---- training


class Training:
    """A linear model, and a step that another function ends."""

    def __init__(self, end: Callable[["Training", Any], Any]) -> None:
        gs.manual_seed(0)
        self.model = nn.Linear(3, 2).double()
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.5, momentum=0.5)
        self.end = end

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = (self.model(x) ** 2).mean()
        loss.backward()
        return loss.detach(), self.end(self, loss)


def trained(end: Callable[[Training], Any], is_compiled: bool) -> list[Any]:
    training = Training(lambda *_: None)
    last, state = end(training)
    training.end = last
    step = gs.compile(training.step) if is_compiled else training.step
    found = []
    for seed in range(CALLS):
        found += arrays([step(numbers(5, 3, seed=seed))[0], *training.model.parameters()])
        found.append(training.optimizer.param_groups[0]["lr"])
        found += arrays(state())
    return found


def schedule(make: Callable[[Any], Any]) -> Callable[[Training], Any]:
    def end(training: Training) -> Any:
        scheduler = make(training.optimizer)
        takes_metrics = isinstance(scheduler, lr_scheduler.ReduceLROnPlateau)

        def last(training: Training, loss: Any) -> None:
            training.optimizer.step()
            scheduler.step(*([loss] if takes_metrics else []))

        return last, list

    return end


def averages(make: Callable[[Any], Any]) -> Callable[[Training], Any]:
    def end(training: Training) -> Any:
        averaged = make(training.model)

        def last(training: Training, _: Any) -> None:
            training.optimizer.step()
            averaged.update_parameters(training.model)

        return last, lambda: [*averaged.parameters(), averaged.n_averaged]

    return end


@pytest.mark.parametrize(
    "end",
    [
        schedule(lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2)),
        schedule(lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=0, threshold=0.5)),
        schedule(lambda o: lr_scheduler.SequentialLR(
            o, [lr_scheduler.ConstantLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [2]
        )),
        averages(swa_utils.AveragedModel),
        averages(lambda m: swa_utils.AveragedModel(m, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.75))),
        averages(lambda m: swa_utils.AveragedModel(m, avg_fn=swa_utils.get_ema_avg_fn(0.75), use_buffers=True)),
    ],
    ids=["restarts", "plateau", "sequential", "mean", "moving", "moving each"],
)  # fmt: skip
def test_what_is_python_is_called_in_each_run(end: Any) -> None:
    for found, expected in zip(trained(end, True), trained(end, False), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_gradients_that_are_not_finite() -> None:
    weight = gs.ones(2, requires_grad=True)

    def step(x: Any) -> Any:
        weight.grad = None
        (weight * x).sum().backward()
        return clip_grad_norm_(weight, 1.0, error_if_nonfinite=True)

    compiled = gs.compile(step)
    for _ in range(2):
        assert compiled(gs.tensor([3.0, 4.0])) == 5
        with pytest.raises(RuntimeError, match="non-finite"):
            compiled(gs.tensor([3.0, float("inf")]))


# ---- what Python may look at


def test_arrays_of_tensors_that_the_function_makes() -> None:
    """They are the same in each run; not so what is captured, or written by an op."""
    outside = gs.ones(3)
    compiled = gs.compile(lambda x: x * int(gs.from_numpy(np.arange(4)).numpy().max()))
    assert [compiled(gs.ones(2)).tolist() for _ in range(2)] == [[3, 3]] * 2

    def written(x: Any) -> Any:
        made = gs.from_numpy(np.zeros(2))
        made.add_(x)
        return x * float(made.numpy()[0])

    for escape in (lambda x: x * outside.data.numpy()[0], lambda x: x * outside.numpy()[0], written):
        with pytest.raises(TraceError, match="numpy"):
            gs.compile(escape)(gs.ones(2))


def columns_with_gaps(x: Any) -> Any:
    made = gs.from_numpy(np.zeros((2, 6))[:, ::2])
    made += x
    return made * 2, made


def one_column_after_the_other(x: Any) -> Any:
    made = gs.from_numpy(np.asfortranarray([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    made[0] += x
    return made.T.sum(0), made


@pytest.mark.parametrize("function", [columns_with_gaps, one_column_after_the_other])
def test_constants_that_are_written_lie_in_each_run_as_they_did(function: Any) -> None:
    expect_alike(function, lambda seed: (numbers(3, seed=seed),))
    compiled = gs.compile(function)
    for seed in range(CALLS):
        assert [one.stride() for one in compiled(numbers(3, seed=seed))] == [
            one.stride() for one in function(numbers(3, seed=seed))
        ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_single_elements_are_rounded_as_rows_are(shape: tuple[int, ...], dtype: Any) -> None:
    """NumPy has loops for dense rows and for others, which differ in the last bit."""
    pairs = np.random.default_rng(0).standard_normal((40, 2)).astype(dtype)
    for op in (gs.atan2, lambda x, y: x.abs() ** y, lambda x, y: gs.atan2(x.reshape(1), y.reshape(())) * 2):
        compiled = gs.compile(op)
        for pair in pairs:
            x, y = (gs.tensor(one).reshape(shape) for one in pair)
            assert compiled(x, y).numpy().tobytes() == op(x, y).numpy().tobytes()


def test_tangents_of_columns_with_gaps() -> None:
    """They are laid out as the tensor is; a program that took them for dense would write behind their end."""

    def function(x: Any) -> Any:
        return gs.func.jacfwd(lambda t: t * x)(x)

    expect_alike(function, lambda seed: (numbers(2, 2, 3, 2, seed=seed)[..., 0],))


def test_lines_of_context_managers_are_those_that_enter_them() -> None:
    def step(x: Any) -> Any:
        with gs.random.fork_rng():
            return x * 2

    with pytest.raises(TraceError, match=r"state of a generator.*test_values\.py:\d+: with gs\.random\.fork_rng\(\):"):
        gs.compile(step)(gs.ones(2))


def test_printing_says_what_is_not_possible() -> None:
    with pytest.raises(TraceError, match=r"compile\(repr\): repr\(\), and so print\(\), is not possible"):
        gs.compile(repr)(gs.ones(2))


def test_what_is_kept_says_what_to_do() -> None:
    kept = np.empty(1, object)
    gs.compile(lambda x: (kept.__setitem__(0, x * 2), x)[1])(gs.ones(2))
    with pytest.raises(
        TraceError, match=r"a tensor of shape \[2\] was made while the function was compiled.*return it"
    ):
        kept[0] + 1


def test_matrices_of_scipys_names_are_not_looked_at() -> None:
    """Whether a matrix is finite is not asked within programs and vmap, where it cannot be."""
    matrices = numbers(2, 3, 3) + 5 * gs.eye(3, dtype=gs.float64)
    expect_alike(lambda x: (linalg.inv(x[0]), linalg.det(x[1])), lambda seed: (matrices + seed,))
    assert gs.allclose(gs.vmap(linalg.inv)(matrices), gs.stack([linalg.inv(one) for one in matrices]))
    with pytest.raises(ValueError, match="infs or NaNs"):
        linalg.inv(matrices[0] * float("nan"))


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.Adafactor])
def test_closures_that_are_called_once(make: Any) -> None:
    losses = []
    for is_compiled in (True, False):
        w = numbers(3).requires_grad_()
        optimizer = make([w], lr=0.1)

        def step(x: Any, w: Any = w, optimizer: Any = optimizer) -> Any:
            def closure() -> Any:
                optimizer.zero_grad()
                loss = ((w * x) ** 2).sum()
                loss.backward()
                return loss

            return optimizer.step(closure).detach()

        run = gs.compile(step) if is_compiled else step
        losses.append([run(numbers(3, seed=seed)).item() for seed in range(CALLS)] + w.tolist())
    assert losses[0] == losses[1]


def test_closures_that_are_called_often() -> None:
    w = numbers(3).requires_grad_()
    optimizer = optim.LBFGS([w])

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((w - 1) ** 2).sum()
        loss.backward()
        return loss

    with pytest.raises(TraceError, match=r"LBFGS.step\(\).*compile the closure.*optimizer\.step\(closure\)"):
        gs.compile(lambda: optimizer.step(closure))()
    optimizer.step(gs.compile(closure))
    assert gs.allclose(w, ones())


def ones() -> Any:
    return gs.ones(3, dtype=gs.float64)


# ---- constants, and what is made of them


def test_values_of_what_is_made_of_constants() -> None:
    def function(x: Any) -> Any:
        counts = gs.tensor([1, 3, 2])
        most = int(counts.expand(2, 3).max())
        grid = gs.arange(5.0)
        inside = grid[grid > most - 1]
        return x * most + inside.sum() + (counts > 1).nonzero().sum()

    expect_alike(function, lambda seed: (numbers(3, seed=seed),))


def test_values_of_what_is_not_only_made_of_constants() -> None:
    def written(x: Any) -> Any:
        one = gs.zeros(3)
        one[0] = x.sum()
        return x * one.clone().max().item()

    def mixed(x: Any) -> Any:
        return x[(gs.tensor([1.0, 2.0, 3.0]) * x) > 0]

    def drawn(x: Any) -> Any:
        return x * (gs.rand(3) * 2).max().item()

    for function in (written, mixed, drawn):
        with pytest.raises(TraceError, match="is not possible"):
            gs.compile(function)(numbers(3))


def above_diagonal() -> Any:
    return gs.triu(gs.ones(4, 4), 1).bool()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[above_diagonal()] * 2,
        lambda x: x[gs.tensor([True, False, True, True]), 1:],
        lambda x: x[[True, False, True, True]],
        lambda x: x.masked_select(above_diagonal()),
        lambda x: gs.bincount(gs.tensor([0, 1, 1, 3]), x[0]),
        lambda x: x.repeat_interleave(gs.tensor([1, 2, 0, 1]), 0),
        gs.func.grad(lambda x: (x[above_diagonal()] ** 2).sum()),
    ],
)
def test_shapes_that_follow_from_constants(function: Any) -> None:
    expect_alike(function, lambda seed: (numbers(4, 4, seed=seed),))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: above_diagonal().masked_select(x > 0),
        lambda x: x[gs.tensor([True, False, True, True]), x[0] > 0],
        lambda x: gs.bincount((x[0] > 0).long()),
        lambda x: gs.ones(4).repeat_interleave((x[0] > 0).long()),
    ],
)
def test_shapes_that_do_not(function: Any) -> None:
    with pytest.raises(TraceError, match="depends on values"):
        gs.compile(function)(numbers(4, 4))


@pytest.mark.parametrize(
    "distribution", [lambda p: dist.Binomial(5, probs=p), lambda p: dist.Multinomial(4, probs=p / p.sum())]
)
def test_entropies_of_counts(distribution: Any) -> None:
    expect_alike(
        gs.func.grad(lambda p: distribution(p).entropy().sum()), lambda seed: (numbers(3, seed=seed).sigmoid(),)
    )


# ---- results that show memory, and signs of zeros


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1), (1, 4), (4, 1), (3, 2), (40,), (2, 40)])
@pytest.mark.parametrize("dim", [None, 0, -1])
def test_sums_of_negative_zeros(shape: tuple[int, ...], dim: int | None) -> None:
    """A sum of one element is that element, whose sign a sum that begins with zero would lose."""
    compiled = gs.compile(lambda x: x.sum(dim))
    for given in (gs.ones(shape), gs.full(shape, -0.0)):
        np.testing.assert_array_equal(np.signbit(compiled(given).numpy()), np.signbit(given.sum(dim).numpy()))


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.data,),
        lambda x: (x, x.data, x.detach()),
        lambda x: (gs.func.vjp(lambda s: s, x)[0], x),
        lambda x: (y := x * 1, gs.func.vjp(lambda s: s, y)[0], y),
        lambda x: (gs.func.vjp(lambda s: s[...], CAPTURED)[0],),
    ],
)
def test_another_tensor_of_the_same_memory_is_another_tensor(function: Any, requires_grad: bool) -> None:
    compiled = gs.compile(function)
    for _ in range(2):
        facts = []
        for called in (compiled, function):
            x = gs.ones(3, requires_grad=requires_grad)
            found = called(x)
            facts.append([(one.requires_grad, [one is other for other in (x, CAPTURED, *found)]) for one in found])
        assert facts[0] == facts[1]


CAPTURED = gs.tensor([1.0, 2.0, 3.0])
LEAF = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)


@gs.no_grad()
def test_views_of_a_captured_leaf_that_are_made_without_recording() -> None:
    compiled = gs.compile(lambda x: (LEAF[1:], LEAF.flip(0), LEAF[None] * x))
    for _ in range(2):
        found, expected = compiled(gs.ones(3)), (LEAF[1:], LEAF.flip(0), LEAF[None])
        assert [one.requires_grad for one in found[:2]] == [one.requires_grad for one in expected[:2]]
