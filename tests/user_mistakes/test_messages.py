"""What programs do wrong, and what they are told: the exception, and the words that help."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F

ROOT = Path(__file__).resolve().parents[2]

NO_CUDA = r"gradsmith computes on the CPU only: there is no device 'cuda'.*torch\.cuda\.is_available\(\)"

MISTAKES = [
    # devices
    ("x.to('cuda')", RuntimeError, rf"^to\(\): {NO_CUDA}"),
    ("x.to(device='cuda')", RuntimeError, rf"^to\(\): {NO_CUDA}"),
    ("x.to('cuda:1')", RuntimeError, "there is no device 'cuda:1'"),
    ("x.to(0)", RuntimeError, "there is no device 0, the number of an accelerator"),
    ("x.to('cuda', gs.float64)", RuntimeError, NO_CUDA),
    ("x.cuda()", RuntimeError, rf"^cuda\(\): {NO_CUDA}"),
    ("x.cuda(0, non_blocking=True)", RuntimeError, NO_CUDA),
    ("x.xpu()", RuntimeError, "there is no device 'xpu'"),
    ("x.to(gs.device('cuda'))", RuntimeError, rf"^to\(\): {NO_CUDA}"),
    ("gs.zeros(2, device=gs.device('mps'))", RuntimeError, r"^zeros\(\): .*there is no device 'mps'"),
    ("gs.device('cuda').__enter__()", RuntimeError, rf"^{NO_CUDA}"),
    ("gs.device(0)", RuntimeError, "there is no device 0, the number of an accelerator"),
    ("gs.device('gpu')", RuntimeError, "^Expected one of cpu, meta device type at start of device string: gpu"),
    ("gs.zeros(2, device='cuda')", RuntimeError, rf"^zeros\(\): {NO_CUDA}"),
    ("gs.tensor([1.0], device='cuda')", RuntimeError, rf"^tensor\(\): {NO_CUDA}"),
    ("gs.randn(2, device=0)", RuntimeError, "there is no device 0"),
    ("gs.ones(2, requires_grad=1)", TypeError, r"ones\(\): argument 'requires_grad' must be bool, not int"),
    ("gs.tensor([1.0], requires_grad='no')", TypeError, r"tensor\(\): argument 'requires_grad' must be bool, not str"),
    ("gs.zeros_like(x, requires_grad=0)", TypeError, r"zeros_like\(\): argument 'requires_grad' must be bool, not int"),
    ("gs.randn(2, requires_grad=[])", TypeError, r"randn\(\): argument 'requires_grad' must be bool, not list"),
    ("gs.arange(2.0, requires_grad=1)", TypeError, r"arange\(\): argument 'requires_grad' must be bool, not int"),
    ("gs.nn.Linear(2, 2).to(gs.bfloat16)", TypeError, r"to\(\): NumPy has no dtype bfloat16"),
    ("x + np.ma.array([1.0, 2.0, 3.0])", TypeError, r"add\(\): .*not MaskedArray, whose mask .* array.filled\(value\)"),
    ("gs.where(x > 0, x, np.ma.array([1.0]))", TypeError, r"where\(\): .*not MaskedArray, .*fill it first"),
    ("gs.randn(2, device=True)", TypeError, r"argument 'device' must be gradsmith.device, not bool"),
    ("gs.set_default_device('cuda')", RuntimeError, NO_CUDA),
    ("gs.nn.Linear(2, 2).cuda()", RuntimeError, NO_CUDA),
    ("gs.nn.Linear(2, 2).to('cuda')", RuntimeError, NO_CUDA),
    ("gs.nn.Linear(2, 2, device='cuda')", RuntimeError, NO_CUDA),
    ("gs.Generator('cuda')", RuntimeError, NO_CUDA),
    ("gs.cuda.current_device()", RuntimeError, NO_CUDA),
    ("gs.cuda.set_device(0)", RuntimeError, NO_CUDA),
    ("gs.cuda.FloatTensor(2)", TypeError, r"type torch.cuda.FloatTensor not available.*Use FloatTensor"),
    ("gs.accelerator.current_device_index()", RuntimeError, "Cannot access accelerator device when none is available"),
    # types
    ("x.type('torch.cuda.FloatTensor')", RuntimeError, NO_CUDA),
    ("x.type('foo')", ValueError, r"^invalid type: 'foo'"),
    ("x.to('flaot32')", TypeError, r"unknown dtype 'flaot32'\. Did you mean 'float32'"),
    ("gs.FloatTensor(gs.ones(2).double())", TypeError, r"FloatTensor\(\): expected a tensor of dtype float32.*float64"),
    ("gs.LongTensor(2.5)", TypeError, r"LongTensor\(\): data must be a sequence \(got float\)"),
    ("gs.DoubleTensor(2, -1)", RuntimeError, r"DoubleTensor\(\): Trying to create tensor with negative dimension -1"),
    ("gs.Size([1, 2.5])", TypeError, r"Size\(\) takes an iterable of 'int' \(item 1 is 'float'\)"),
    ("gs.Size([1]) + [2]", TypeError, r"can only concatenate tuple \(not list\) to gradsmith.Size"),
    # arguments
    ("x.transpose(2, 0, 1)", TypeError, r"takes exactly 2 positional arguments \(3 given\).*\(dim0, dim1\).*permute"),
    ("gs.transpose(x, 2, 0, 1)", TypeError, r"takes .*positional arguments \(4 given\).*permute"),
    ("x.sum(dims=1)", TypeError, r"keyword argument 'dims'\. Did you mean 'dim'\?.*sum\(dim=None, keepdim=False"),
    ("gs.sum(x, dims=1)", TypeError, r"keyword argument 'dims'\. Did you mean 'dim'\?.*sum\(input, dim=None"),
    ("x.mean(keep_dim=True)", TypeError, "Did you mean 'keepdim'"),
    ("x.max(dims=1)", TypeError, r"(?s)invalid combination of arguments.*'dims': Did you mean 'dim'\?"),
    ("x.exp(3)", TypeError, r"exp\(\) takes .* positional argument.*given"),
    ("x.sum(dim=2)", IndexError, r"^Dimension out of range \(.*range of \[-2, 1\], but got 2\).*'dim' of sum"),
    ("x.sum(dim=2)", IndexError, r"for a tensor of shape \[2, 3\]"),
    ("x.size(2)", IndexError, r"^Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"),
    ("gs.softmax(x)", TypeError, r"softmax\(\) missing 1 required argument: 'dim'"),
    ("x.unsqueeze(5)", IndexError, r"range of \[-3, 2\], but got 5\).*unsqueeze"),
    # in place
    ("gs.tensor([1, 2]).div_(2)", RuntimeError, "^div_: result type float32 can't be cast to .* int64"),
    ("gs.tensor([1, 2]).add_(2.5)", RuntimeError, "^add_: result type"),
    ("gs.tensor([1, 2]).lerp_(gs.ones(2), 0.5)", RuntimeError, "^lerp_: result type"),
    # what keeps a history
    ("copy.deepcopy(w * 2)", RuntimeError, "Only Tensors created explicitly by the user"),
    # names
    ("x.to(gs.bfloat16)", TypeError, r"to\(\): NumPy has no dtype bfloat16.*float32.*float16"),
    ("gs.zeros(2, dtype=gs.bfloat16)", TypeError, r"zeros\(\): NumPy has no dtype bfloat16"),
    ("x.bfloat16()", AttributeError, "bfloat16"),
    ("gs.export", AttributeError, r"torch\.export has no counterpart"),
    ("gs.fx.replace_pattern", AttributeError, r"torch\.fx\.replace_pattern has no counterpart in gradsmith"),
    ("gs.transpse", AttributeError, r"module 'gradsmith' has no attribute 'transpse'\. Did you mean 'transpose'\?"),
    ("gs.nn.Linaer", AttributeError, r"module 'gradsmith.nn' has no attribute 'Linaer'\. Did you mean 'Linear'\?"),
    ("F.cros_entropy", AttributeError, "Did you mean 'cross_entropy'"),
    ("F.scaled_mm", AttributeError, r"torch\.nn\.functional\.scaled_mm has no counterpart"),
    ("gs.optim.Adamm", AttributeError, "Did you mean 'Adam'"),
    ("gs.cuda.MemPool", AttributeError, r"torch\.cuda\.MemPool has no counterpart.*cuda\.is_available\(\)"),
    ("gs.utils.tensorboard", AttributeError, r"torch\.utils\.tensorboard has no counterpart"),
    ("gs.linalg.cholesk", AttributeError, "Did you mean 'cholesky'"),
    # what is not computed here
    ("gs.jit.load('model.pt')", NotImplementedError, r"load_state_dict\(gradsmith\.load\(path\)\)"),
    ("gs.jit.save(None, 'model.pt')", NotImplementedError, r"gradsmith\.save\(model\.state_dict\(\), path\)"),
    ("gs.set_float32_matmul_precision('low')", RuntimeError, "expected one of"),
    ("gs.compile(len, mode='default', options={})", RuntimeError, "Either mode or options"),
]  # fmt: skip


@pytest.mark.parametrize("code, kind, message", MISTAKES, ids=[mistake[0] for mistake in MISTAKES])
def test_message(code, kind, message):
    import copy
    import pickle

    names = {"gs": gs, "np": np, "F": F, "pickle": pickle, "copy": copy}
    names |= {"x": gs.zeros(2, 3), "w": gs.ones(2, requires_grad=True)}
    with pytest.raises(kind) as caught:
        eval(code, names)
    assert type(caught.value) is kind
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "gradsmith.generated" not in str(caught.value)


WARNED = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]


@pytest.mark.parametrize("loss", WARNED)
def test_losses_of_different_sizes_warn(loss):
    with pytest.warns(
        UserWarning, match=r"target size \(\[3, 1\]\) that is different to the input size \(\[3\]\)"
    ) as caught:
        found = getattr(F, loss)(gs.ones(3), gs.zeros(3, 1), reduction="none")
    assert found.shape == (3, 3)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("layer", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"])
def test_layers_of_losses_warn_where_they_are_called(layer):
    with pytest.warns(UserWarning, match="different to the input size") as caught:
        getattr(gs.nn, layer)()(gs.ones(3), gs.zeros(3, 1))
    assert caught[0].filename == __file__


def test_losses_of_one_size_do_not_warn(recwarn):
    for loss in WARNED:
        getattr(F, loss)(gs.ones(3), gs.zeros(3))
    assert not recwarn.list


def methods_in_place():
    """Names of the methods that change a tensor."""
    return [name for name in dir(gs.Tensor) if name.endswith("_") and not name.startswith("_")]


@pytest.mark.filterwarnings("ignore:This overload of:UserWarning")
@pytest.mark.parametrize("name", methods_in_place())
def test_methods_in_place_call_themselves_by_their_names(name):
    """An integer tensor cannot take fractions: whichever method refuses them says its own name."""
    whole, fractions = gs.tensor([1, 2]), gs.ones(2) / 2
    for arguments in ((), (0.5,), (fractions,), (fractions, 0.5), (0.5, 0.5)):
        try:
            getattr(whole, name)(*arguments)
        except RuntimeError as error:
            if "can't be cast to the desired output type" in str(error):
                assert str(error).startswith(f"{of_method(name)}:"), str(error)
        except (TypeError, ValueError, IndexError, NotImplementedError, AttributeError):
            pass


def of_method(name):
    """Other names of a method are the method itself, which has one."""
    return getattr(gs.Tensor, name).__name__


@pytest.mark.parametrize(
    "value, specification, text",
    [
        ([1.0, 2.5], ".3f", "[1.000, 2.500]"),
        ([[1.0], [2.0]], ".1f", "[[1.0], [2.0]]"),
        ([1, 2], "03d", "[001, 002]"),
        (1.5, ".2f", "1.50"),
        ([1.5], "", "tensor([1.5000])"),
        (1.5, "", "1.5"),  # as PyTorch: f"loss {loss}"
        (3, "", "3"),
    ],
)
def test_format(value, specification, text):
    assert format(gs.tensor(value), specification) == text
    assert format(gs.tensor(value).float().requires_grad_(), ".1f") if specification else True


def test_format_of_what_is_no_plain_number():
    assert f"{gs.tensor(0.5, requires_grad=True) * 3}" == "1.5"
    assert f"{gs.nn.Parameter(gs.tensor(1.5))}" == repr(gs.nn.Parameter(gs.tensor(1.5)))
    assert f"{gs.tensor(1.5, device='meta')}" == "tensor(..., device='meta', size=())"
    texts = []
    gs.vmap(lambda x: texts.append(f"{x}") or x)(gs.tensor([1.0, 2.0]))
    assert texts[0].startswith("tensor")


def test_attributes_of_the_class():
    def doubled(self):
        return self * 2

    gs.Tensor.doubled_for_a_test = doubled
    try:
        assert gs.ones(2).doubled_for_a_test().tolist() == [2.0, 2.0]
        assert gs.nn.Parameter(gs.ones(1)).doubled_for_a_test().item() == 2.0
    finally:
        del gs.Tensor.doubled_for_a_test
    assert not hasattr(gs.ones(2), "doubled_for_a_test")


def test_a_replaced_method_comes_back():
    own = gs.Tensor.sum
    gs.Tensor.sum = lambda self: "replaced"
    try:
        assert gs.ones(2).sum() == "replaced"
        assert (gs.ones(2) + 1).tolist() == [2.0, 2.0]
    finally:
        gs.Tensor.sum = own
    assert gs.ones(2).sum().item() == 2.0


def test_an_operator_of_the_class_may_be_replaced():
    own = gs.Tensor.__matmul__
    gs.Tensor.__matmul__ = lambda self, other: "replaced"
    try:
        assert gs.ones(2) @ gs.ones(2) == "replaced" and gs.nn.Parameter(gs.ones(2)) @ 1 == "replaced"
    finally:
        gs.Tensor.__matmul__ = own
    assert (gs.ones(2) @ gs.ones(2)).item() == 2.0


def test_attributes_of_other_tensors():
    """A program may ask for them, and set them."""
    x = gs.ones(2)
    assert not hasattr(x, "record_stream") and not hasattr(gs.Tensor, "to_sparse")
    with pytest.raises(AttributeError, match=r"'Parameter' object has no attribute 'storage_type': torch\.Tensor"):
        gs.nn.Parameter(x).storage_type()
    x.solve = 3
    assert x.solve == 3 and not hasattr(gs.ones(2), "solve")


def test_the_signature_of_an_op_is_known():
    import inspect

    assert list(inspect.signature(gs.sin).parameters) == ["input", "out"]
    assert list(inspect.signature(gs.Tensor.sum).parameters)[:3] == ["self", "dim", "keepdim"]


def test_a_clone_that_is_not_built_says_so(tmp_path):
    """Python files alone, as in a clone before `make`; the other gradsmith, further down the path, is not taken."""
    import shutil

    package = tmp_path / "gradsmith"
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "*.pyx", "*.pxd", "__pycache__")
    shutil.copytree(ROOT / "gradsmith", package, ignore=ignored)
    for name in ("derivatives.yaml", "Makefile"):
        (tmp_path / name).write_text("")
    done = subprocess.run(
        [sys.executable, "-c", "import gradsmith"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: gradsmith is not built in") and "run `make` in that folder" in last
