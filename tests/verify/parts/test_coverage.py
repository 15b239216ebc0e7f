"""An entry is unproven where its samples leave something unseen, and the proof names a sample that would show it."""

import pytest

from gradsmith.generated.op_table import OPS
from gradsmith.verify import prove
from gradsmith.verify.samples import key_of
from gradsmith.verify.trees.models import own_models
from gradsmith.verify.variations import variations_of, written_sample

ROWS = {key_of(row): row for row in OPS}


def missing(key, *samples, **changes):
    proof = prove(ROWS[key]._replace(samples=samples, **changes))
    assert proof.failures == []
    return proof.missing


@pytest.mark.parametrize(
    ("key", "samples", "gap"),
    [
        ("sum.dim", [{"self": "real(3, 4)", "dim": "0"}], "'dim' has no negative number: add a sample"),
        ("sum.dim", [{"self": "real(3, 4)", "dim": "0"}], "'dim' is never None"),
        ("sum.dim", [{"self": "real(3, 4)", "dim": "0"}], "'dim' always has the same length"),
        ("sum.dim", [{"self": "real(3, 4)", "dim": "0"}], "'keepdim' is never True"),
        ("sum.dim", [{"self": "real(3, 4)", "dim": "0"}], "'dtype' is always None"),
        ("sum", [{"self": "real(3, 4)"}], "tensors always have the same number of dimensions: add a sample"),
        ("mul", [{"self": "real(3, 4)", "other": "real(3, 4)"}], "'other' is never a number: add a sample"),
        ("mul", [{"self": "real(3, 4)", "other": "2.5"}], "'other' is always a number"),
        ("matmul", [{"self": "real(3, 3)", "other": "real(3, 3)"}], "matrices are always square"),
        ("linear", [{"self": "real(5, 3)", "weight": "real(2, 3)"}], "'bias' is always None"),
        ("select", [{"self": "real(3, 4)", "dim": "1", "index": "2"}], "'dim' is never negative: add a sample"),
        ("select", [{"self": "real(3, 4)", "dim": "1", "index": "2"}], "'dim' is always 1"),
        ("mse_loss", [{"self": "real(3)", "target": "real(3)"}], "'reduction' is always 'mean': add a sample"),
        ("stack", [{"tensors": "[real(2), real(2)]"}], "'tensors' always has the same length"),
        ("square", [{"self": "integers(3, 4, high=5)"}], "no gradient of 'self' other than zero was compared in rev"),
        ("exp", [{"self": "real(0, 4)"}], "no gradient of 'self' other than zero was compared in forward mode"),
        ("clamp_min", [{"self": "real(3, low=2, high=3)", "min": "0.5"}], "`self >= min` in the formula of 'self' is"),
        ("exp", [], "nothing was run: add samples"),
    ],
)  # fmt: skip
def test_gap(key, samples, gap):
    found = missing(key, *samples, points=())
    assert any(text.startswith(gap) for text in found), "\n".join(found)


def test_what_the_op_refuses_is_no_gap():
    """No negative size, no list where an int is wanted, no matrices of a vector's op."""
    assert not [text for text in missing("dot", {"self": "real(3)", "tensor": "real(3)"}) if "dimensions" in text]


def test_variations_are_written_as_the_table_has_them():
    row = ROWS["sum.dim"]._replace(samples=({"self": "real(3, 4)", "dim": "0"},))
    texts = [written_sample(v.sample) for v in variations_of(own_models().of(row).op, row)]
    assert {"real(3, 4), dim=-1", "real(3, 4), dim=0, keepdim=True", "real(2, 3, 4), dim=0"} <= set(texts)
