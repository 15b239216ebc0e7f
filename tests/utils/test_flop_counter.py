"""`FlopCounterMode`: the counts are PyTorch's, written down from its own counter."""

import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.utils.checkpoint import checkpoint
from gradsmith.utils.flop_counter import FlopCounterMode


def real(*shape):
    return gs.randn(*shape, requires_grad=True)


def counts(function):
    with FlopCounterMode(display=False) as counter:
        function().sum().backward()
    return counter.get_flop_counts()


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda: real(3, 4) @ real(4, 5), {"aten.mm": 360}),
        (lambda: gs.mm(real(3, 4), real(4, 5)), {"aten.mm": 360}),
        (lambda: gs.bmm(real(2, 3, 4), real(2, 4, 5)), {"aten.bmm": 720}),
        (lambda: gs.matmul(real(2, 3, 4), real(4, 5)), {"aten.mm": 720}),
        (lambda: gs.addmm(real(3, 5), real(3, 4), real(4, 5)), {"aten.addmm": 120, "aten.mm": 240}),
        (lambda: gs.baddbmm(real(2, 3, 5), real(2, 3, 4), real(2, 4, 5)), {"aten.baddbmm": 240, "aten.bmm": 480}),
        (lambda: gs.einsum("bij,bjk->bik", real(2, 3, 4), real(2, 4, 5)), {"aten.bmm": 720}),
        (lambda: F.linear(real(6, 4), real(5, 4), real(5)), {"aten.addmm": 240, "aten.mm": 480}),
        (lambda: F.linear(real(2, 6, 4), real(5, 4)), {"aten.mm": 1440}),
        (
            lambda: F.conv2d(real(2, 4, 8, 8), real(6, 2, 3, 3), real(6), padding=1, groups=2, stride=2),
            {"aten.convolution": 6912, "aten.convolution_backward": 20736},
        ),
        (
            lambda: F.conv1d(real(2, 4, 8), real(6, 4, 3)),
            {"aten.convolution": 1728, "aten.convolution_backward": 3456},
        ),
        (
            lambda: F.conv_transpose2d(real(2, 4, 8, 8), real(4, 6, 3, 3), real(6), stride=2),
            {"aten.convolution": 55296, "aten.convolution_backward": 110592},
        ),
        (
            lambda: F.scaled_dot_product_attention(real(2, 3, 4, 5), real(2, 3, 6, 5), real(2, 3, 6, 7)),
            {
                "aten._scaled_dot_product_flash_attention": 3456,
                "aten._scaled_dot_product_flash_attention_backward": 8352,
            },
        ),
    ],
)
def test_counts_of_ops(function, wanted):
    assert counts(function) == {"Global": wanted}


def test_products_with_vectors_and_elementwise_ops_are_not_counted():
    assert counts(lambda: (real(3, 4) @ real(4)).exp() * 2) == {}


@pytest.mark.parametrize(
    ("layer", "steps"),
    [(gs.nn.LSTM(4, 5), 4 * 5 * 5), (gs.nn.GRU(4, 5), 3 * 5 * 5), (gs.nn.RNN(4, 5), 5 * 5)],
)
def test_recurrent_layers(layer, steps):
    found = counts(lambda: layer(gs.randn(7, 3, 4))[0])["Global"]
    inputs = 2 * 21 * (steps // 5) * 4
    assert sum(found.values()) == 2 * inputs + 3 * 2 * 21 * steps


def two_layers():
    return gs.nn.Sequential(gs.nn.Linear(4, 5), gs.nn.ReLU(), gs.nn.Linear(5, 2))


def test_modules_with_their_backward():
    assert counts(lambda: two_layers()(gs.randn(3, 4))) == {
        "Global": {"aten.addmm": 180, "aten.mm": 240},
        "Sequential": {"aten.addmm": 180, "aten.mm": 240},
        "Sequential.0": {"aten.addmm": 120, "aten.mm": 120},
        "Sequential.2": {"aten.addmm": 60, "aten.mm": 120},
    }


def test_what_a_checkpoint_computes_again_is_counted_again():
    model = two_layers()
    found = counts(lambda: checkpoint(model, real(3, 4), use_reentrant=False))
    assert found["Sequential.0"]["aten.addmm"] == 240


def test_counts_while_it_counts_and_anew():
    counter = FlopCounterMode(display=False)
    for _ in range(2):
        with counter:
            assert counter.get_total_flops() == 0
            real(3, 4) @ real(4, 5)
            assert counter.get_total_flops() == 120
            with pytest.raises(RuntimeError, match="counting already"):
                counter.__enter__()
    assert counter.get_total_flops() == 120
    real(3, 4) @ real(4, 5)
    assert counter.get_total_flops() == 120


def test_a_counter_inside_another():
    with FlopCounterMode(display=False) as outer:
        real(3, 4) @ real(4, 5)
        with FlopCounterMode(display=False) as inner:
            real(3, 4) @ real(4, 5)
    assert (outer.get_total_flops(), inner.get_total_flops()) == (240, 120)


def test_a_module_that_raises_has_ended():
    class Raising(gs.nn.Module):
        def forward(self, x):
            x @ x
            raise ValueError("no")

    with FlopCounterMode(display=False) as counter:
        with pytest.raises(ValueError, match="no"):
            Raising()(real(2, 2))
        real(2, 2) @ real(2, 2)
    assert counter.get_flop_counts() == {"Global": {"aten.mm": 32}, "Raising": {"aten.mm": 16}}


def test_the_table(capsys):
    with FlopCounterMode() as counter:
        two_layers()(gs.randn(3000, 4))
    assert capsys.readouterr().out.splitlines() == [
        "Module              FLOP  % Total",
        "--------------  --------  -------",
        "Sequential      180.000K  100.00%",
        " - aten.addmm   180.000K  100.00%",
        " Sequential.0   120.000K   66.67%",
        "  - aten.addmm  120.000K   66.67%",
        " Sequential.2    60.000K   33.33%",
        "  - aten.addmm   60.000K   33.33%",
    ]
    assert counter.get_table(depth=1).count("\n") == 3


def test_the_table_of_what_no_module_does(capsys):
    with FlopCounterMode():
        pass
    assert capsys.readouterr().out.splitlines()[2] == "Global     0       0%"
    with FlopCounterMode() as counter:
        two_layers()(gs.randn(3, 4))
        real(2, 2) @ real(2, 2)
    assert [line.split()[0] for line in counter.get_table().splitlines()[2:]][:4] == ["Global", "-", "-", "Sequential"]


def test_what_is_refused():
    with pytest.raises(ValueError, match="custom_mapping means nothing"):
        FlopCounterMode(custom_mapping={"mm": len})
