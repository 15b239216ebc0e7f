"""Whatever a node keeps, the gradients are the same; what may be changed before backward is not."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad as fwAD
from gradsmith.autograd import grad

pytestmark = pytest.mark.compiles

# Op: signature, what its entry says, the ways to keep less than everything.
ENTRIES = {
    "exp_like": ("Tensor self", "forward: ufunc(exp)\n  self: grad * conj(result)", ("self", "result")),
    "exp_as_input": ("Tensor self", "forward: ufunc(exp)\n  self: grad * conj(exp(self))", ("self",)),
    "tanh_like": ("Tensor self", "forward: ufunc(tanh)\n  self: grad * conj(1 - result * result)", ("self", "result")),
    "logistic": (
        "Tensor self", "forward: pointwise(1 / (1 + exp(-self)))\n  self: grad * conj((1 - result) * result)",
        ("self", "result"),
    ),
    "root": ("Tensor self", "forward: pointwise(1 / sqrt(self))", ("self", "result")),
    "quotient": (
        "Tensor self, Tensor other",
        "forward: ufunc(true_divide)\n  self: grad / conj(other)\n  other: -grad * conj(result / other)",
        ("self, other", "other, result"),
    ),
    "power_of": (
        "Tensor self, *, Scalar p", "forward: pointwise(self ** p)\n  self: grad * conj(p * result / self)",
        ("self", "self, result"),
    ),
}  # fmt: skip
WAYS = [(base, kept) for base, (_, _, ways) in ENTRIES.items() for kept in ways]
DATA = {
    "self": np.random.default_rng(3).uniform(0.5, 2, (3, 4)),
    "other": np.random.default_rng(4).uniform(0.5, 2, (3, 4)),
    "p": 2.5,
}


def name_of(base, kept):
    return f"{base}_saving_{kept.replace(', ', '_')}"


def entry(base, kept):
    signature, text, _ = ENTRIES[base]
    names = [argument.split()[1] for argument in signature.split(", ") if argument != "*"]
    values = {"self": "positive(3, 4)", "other": "positive(3, 4)", "p": "2.5"}
    return (
        f"- name: {name_of(base, kept)}({signature}) -> Tensor\n  {text}\n  saves: [{kept}]\n"
        f"  samples: {', '.join(f'{name}={values[name]}' for name in names)}\n  doc: One of the ways.\n"
    )


@pytest.fixture(scope="module")
def ops(cache, tmp_path_factory):
    table = tmp_path_factory.mktemp("saving") / "saving.yaml"
    table.write_text("ways:\n" + "".join(entry(*way) for way in WAYS), encoding="utf-8")
    return gs.load_ops(table)


def arguments(base, **options):
    """Tensors by position, numbers by name."""
    names = [argument.split()[1] for argument in ENTRIES[base][0].split(", ") if argument != "*"]
    tensors = [gs.tensor(DATA[name], **options) for name in names if name != "p"]
    return tensors, {"p": DATA["p"]} if "p" in names else {}


def derivatives(op, base):
    """Gradients by loops and by ops, those of the gradients, and the tangent."""
    tensors, numbers = arguments(base, requires_grad=True)
    weights = gs.tensor(np.cos(np.arange(12.0)).reshape(3, 4))
    by_loop = grad(op(*tensors, **numbers), tensors, weights)
    by_ops = grad(op(*tensors, **numbers), tensors, weights, create_graph=True)
    second = grad(sum((g * g).sum() for g in by_ops), tensors)
    with fwAD.dual_level():
        duals = [fwAD.make_dual(t.detach(), weights) for t in tensors]
        tangent = fwAD.unpack_dual(op(*duals, **numbers)).tangent
    return [np.asarray(t.detach()) for t in (*by_loop, *by_ops, *second, tangent)]


@pytest.mark.parametrize("base", ENTRIES)
def test_every_way_gives_the_same(ops, base):
    found = [derivatives(getattr(ops, name_of(base, kept)), base) for kept in ENTRIES[base][2]]
    expected = derivatives(lambda *tensors, **numbers: reference(base, *tensors, **numbers), base)
    for way in found:
        for one, other in zip(way, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)


def reference(base, x, y=None, p=None):
    """The same by ops of gradsmith's own table."""
    return {
        "exp_like": lambda: x.exp(),
        "exp_as_input": lambda: x.exp(),
        "tanh_like": lambda: x.tanh(),
        "logistic": lambda: x.sigmoid(),
        "root": lambda: x.rsqrt(),
        "quotient": lambda: x / y,
        "power_of": lambda: x**p,
    }[base]()


@pytest.mark.parametrize(("base", "kept"), WAYS, ids=[name_of(*way) for way in WAYS])
def test_the_node_keeps_what_the_entry_says(ops, base, kept):
    tensors, numbers = arguments(base, requires_grad=True)
    node = getattr(ops, name_of(base, kept))(*tensors, **numbers).grad_fn
    saved = {name.removeprefix("_saved_") for name in dir(node) if name.startswith("_saved_")} - {"p", "tensors"}
    assert saved == set(kept.split(", "))


@pytest.mark.parametrize(("base", "kept"), WAYS, ids=[name_of(*way) for way in WAYS])
@pytest.mark.parametrize("changed", ["self", "result"])
def test_what_is_not_kept_may_be_changed(ops, base, kept, changed):
    leaves, numbers = arguments(base, requires_grad=True)
    inputs = [leaf * 1 for leaf in leaves]
    result = getattr(ops, name_of(base, kept))(*inputs, **numbers)
    total = result.sum()
    (inputs[0] if changed == "self" else result).add_(1)
    if changed in kept.split(", "):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()
    else:
        total.backward()
        assert all(leaf.grad is not None for leaf in leaves)


def test_the_table_says_why(ops):
    reasons = {row.base: row.saving for row in ops.op_table.OPS}
    assert reasons["exp_like_saving_result"] == "saves result: exp_like_saving_result need not be computed again"
    assert reasons["logistic_saving_self"].startswith("saves self, as the entry says: result would be cheaper, ")
    assert reasons["power_of_saving_self"].startswith("saves self, as the entry says: self and result would be ")


def test_what_would_be_cheaper_is_told(cache, tmp_path, capsys):
    table = tmp_path / "notes.yaml"
    table.write_text(
        "waves:\n- name: grown(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * conj(grown(self))\n"
        "  samples: real(3)\n  doc: Grows.\n",
        encoding="utf-8",
    )
    gs.load_ops(table, verbose=True)
    assert f"{table}:2:1: grown: note: saves self; result would be cheaper: grown need not be computed again. " in (
        capsys.readouterr().out
    )
