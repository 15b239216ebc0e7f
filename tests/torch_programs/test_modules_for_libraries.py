"""Modules of PyTorch that libraries import: what is real computes, the rest says why it is not."""

import os
import typing
import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn

# ---- one way to compute attention


def test_ways_to_compute_attention():
    from gradsmith.backends import cuda
    from gradsmith.nn.attention import SDPBackend, sdpa_kernel

    q = gs.randn(2, 3, 4)
    expected = nn.functional.scaled_dot_product_attention(q, q, q)
    for backends in (SDPBackend.MATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
        with sdpa_kernel(backends, set_priority=True):
            assert gs.equal(nn.functional.scaled_dot_product_attention(q, q, q), expected)
            assert cuda.math_sdp_enabled() is (backends is SDPBackend.MATH)
            assert cuda.flash_sdp_enabled() is cuda.mem_efficient_sdp_enabled() is (backends is not SDPBackend.MATH)
    assert cuda.math_sdp_enabled() and cuda.cudnn_sdp_enabled() and not cuda.is_flash_attention_available()
    with pytest.warns(FutureWarning, match="sdp_kernel"), cuda.sdp_kernel(enable_flash=False):
        assert not cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
    cuda.enable_flash_sdp(False)
    assert not cuda.flash_sdp_enabled()
    cuda.enable_flash_sdp(True)
    assert cuda.flash_sdp_enabled() and not cuda.can_use_flash_attention(None)


@pytest.mark.parametrize("backends, error", [("MATH", AssertionError), ((), AssertionError), ([], RuntimeError)])
def test_ways_that_are_none(backends, error):
    with pytest.raises(error), nn.attention.sdpa_kernel(backends):
        pass


@pytest.mark.parametrize("queries, keys", [(2, 4), (4, 2), (3, 3), (0, 2)])
def test_causal_masks(queries, keys):
    from gradsmith.nn.attention import bias

    places = np.indices((queries, keys))
    upper, lower = bias.causal_upper_left(queries, keys), bias.causal_lower_right(queries, keys)
    assert upper.dtype == gs.bool and upper.shape == lower.shape == (queries, keys)
    np.testing.assert_array_equal(upper.numpy(), places[1] <= places[0])
    np.testing.assert_array_equal(lower.numpy(), places[1] - keys <= places[0] - queries)


def test_a_causal_mask_of_more_keys_than_queries():
    q, k = gs.randn(2, 2, 4), gs.randn(2, 3, 4)
    attended = nn.functional.scaled_dot_product_attention
    found = attended(q, k, k, attn_mask=nn.attention.bias.causal_lower_right(2, 3))
    np.testing.assert_allclose(found[:, 0].numpy(), attended(q[:, :1], k[:, :2], k[:, :2])[:, 0].numpy(), rtol=1e-5)
    np.testing.assert_allclose(found[:, 1].numpy(), attended(q, k, k)[:, 1].numpy(), rtol=1e-5)
    with pytest.raises(RuntimeError, match=r"causal_lower_right\(\): expected the numbers of queries and keys"):
        nn.attention.bias.causal_lower_right(2)


# ---- marks for compilers


def test_graphs_of_modules():
    assert gs.fx.wrap(len) is len and gs.fx.wrap("len") == "len" and not isinstance(nn.Linear(1, 1), gs.fx.GraphModule)
    with pytest.raises(AttributeError, match=r"torch\.fx\.symbolic_trace has no counterpart .*`gs\.compile` traces"):
        gs.fx.symbolic_trace  # noqa: B018
    for name in ("Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer"):
        base = getattr(gs.fx, name)
        with pytest.raises(NotImplementedError, match=r"torch\.fx\.Own has no counterpart .*gradsmith\.compile"):
            type("Own", (base,), {})(nn.Linear(1, 1), None)


def test_symbols_and_fake_tensors():
    assert not isinstance(3, (gs.SymInt, gs.SymFloat, gs.SymBool))
    with gs.compat.as_torch():
        from torch._subclasses.fake_tensor import FakeTensor, is_fake
        from torch.fx.experimental.proxy_tensor import get_proxy_mode
    assert get_proxy_mode() is None
    assert not is_fake(gs.ones(1)) and not isinstance(gs.empty(1, device="meta"), FakeTensor)
    for cls in (gs.SymInt, FakeTensor):
        with pytest.raises(TypeError, match="there are no"):
            cls(3)


def test_names_of_scripts():
    assert gs.jit.Final is typing.Final and issubclass(gs.jit.TracerWarning, Warning)
    with gs.compat.as_torch():
        from torch.jit.annotations import BroadcastingList2, List
    assert List is typing.List and gs.jit.annotations.List is List and BroadcastingList2[int] is None  # noqa: UP006


def test_torch_has_itself():
    assert gs.torch is gs and gs.cuda._initialized is False
    assert gs._assert_async(gs.tensor(True)) is None
    with pytest.raises(RuntimeError, match="^Expected Tensor with single nonzero value, but got zero"):
        gs._assert_async(gs.tensor(0.0))
    with pytest.raises(RuntimeError, match="^must hold"):
        gs._assert_async(gs.tensor(False), "must hold")


def test_marks_for_profilers_of_cuda():
    with gs.compat.as_torch():
        from torch.cuda import Stream, nvtx
    for use in (lambda: nvtx.range_push("a"), nvtx.range_pop, lambda: nvtx.range("a").__enter__(), Stream):
        with pytest.raises(RuntimeError, match="CPU only"):
            use()


def test_numbers_of_tensors():
    x = nn.Parameter(gs.ones(2))
    assert x._cdata == x._cdata != gs.ones(2)._cdata and isinstance(x._cdata, int)
    assert dict(nn.Linear(1, 1).named_parameters())["weight"]._cdata > 0


# ---- files from the net


def test_weights_that_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert gs.hub.get_dir() == os.path.join(tmp_path, "hub")
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    gs.save({"weight": gs.arange(3)}, folder / "net-12ab.pth")
    url = "https://example.org/weights/net-12ab.pth"
    assert gs.hub.load_state_dict_from_url(url, progress=False)["weight"].tolist() == [0, 1, 2]
    assert gs.utils.model_zoo.load_url(url, map_location="meta")["weight"].is_meta
    assert gs.hub.HASH_REGEX.search(url).group(1) == "12ab"
    with pytest.raises(NotImplementedError, match="gradsmith downloads nothing"):
        gs.hub.load_state_dict_from_url(f"{url}x")
    with pytest.raises(NotImplementedError, match="gradsmith downloads nothing"):
        gs.hub.download_url_to_file(url, "there")
    with pytest.raises(NotImplementedError, match="code for PyTorch"):
        gs.hub.load("pytorch/vision", "resnet18")
    monkeypatch.setattr(gs.compat.torch.hub, "_chosen", {})
    gs.hub.set_dir(tmp_path)
    assert gs.hub.get_dir() == str(tmp_path)


# ---- networks


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions(dims):
    conv = getattr(nn.functional, f"conv{dims}d")
    of_input, of_weight = (getattr(nn.grad, f"conv{dims}d_{name}") for name in ("input", "weight"))
    options = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}
    x = gs.randn(2, 4, *[7] * dims, dtype=gs.float64, requires_grad=True)
    weight = gs.randn(6, 2, *[2] * dims, dtype=gs.float64, requires_grad=True)
    result = conv(x, weight, **options)
    gradient = gs.randn(*result.shape, dtype=gs.float64)
    expected = gs.autograd.grad(result, (x, weight), gradient)
    with gs.no_grad():
        found = of_input(x.shape, weight, gradient, **options), of_weight(x, weight.shape, gradient, **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12, atol=1e-12)
        assert not one.requires_grad
    assert of_input(x.shape, weight, gradient, **options).requires_grad


def test_second_gradients_of_convolutions():
    weight = gs.randn(2, 1, 2, dtype=gs.float64, requires_grad=True)
    gradient = gs.randn(1, 2, 3, dtype=gs.float64, requires_grad=True)
    assert gs.autograd.gradcheck(lambda w, g: nn.grad.conv1d_input((1, 1, 4), w, g), (weight, gradient))


def test_modules_with_other_tensors():
    from gradsmith.compat.torch.nn.utils.stateless import _reparametrize_module

    layer = nn.Linear(2, 1)
    own = layer.weight
    other = {"weight": gs.ones(1, 2, requires_grad=True), "bias": gs.zeros(1)}
    with pytest.raises(ZeroDivisionError), _reparametrize_module(layer, other):
        assert layer.weight is other["weight"] and layer(gs.ones(2)).item() == 2.0
        1 / 0  # noqa: B018
    assert layer.weight is own
    with pytest.warns(FutureWarning, match="torch.func.functional_call"):
        assert nn.utils.stateless.functional_call(layer, other, gs.ones(2)).item() == 2.0
    with pytest.raises(RuntimeError, match="Missing"), _reparametrize_module(layer, {}, strict=True):
        pass


def test_modules_named_as_functions():
    with gs.compat.as_torch():
        import torch.nn.utils.weight_norm as weight_norm
        from torch.nn.utils.spectral_norm import SpectralNorm, spectral_norm
        from torch.nn.utils.weight_norm import WeightNorm
    assert callable(nn.utils.weight_norm) and callable(weight_norm) and nn.utils.spectral_norm is spectral_norm
    assert isinstance(WeightNorm, type) and isinstance(SpectralNorm, type)


def test_words_for_reductions():
    assert [nn._reduction.get_enum(word) for word in ("none", "mean", "sum")] == [0, 1, 2]
    assert nn._reduction.legacy_get_string(None, None, emit_warning=False) == "mean"
    assert nn._reduction.legacy_get_enum(False, True, emit_warning=False) == 2
    assert nn._reduction.legacy_get_enum(True, False, emit_warning=False) == 0
    with pytest.warns(UserWarning, match="reduction='none'"):
        nn._reduction.legacy_get_string(None, False)
    with pytest.raises(ValueError, match="median is not a valid value"):
        nn._reduction.get_enum("median")


def test_types_of_sizes():
    assert set(typing.get_args(nn.common_types._size_2_t)) == {int, tuple[int, int]}
    assert gs.Tensor in typing.get_args(nn.common_types._tensor_list_t)
    assert str in typing.get_args(gs.serialization.MAP_LOCATION)


def test_places_of_functions():
    with gs.compat.as_torch():
        from torch.utils.data._utils.collate import default_collate
    assert default_collate is gs.utils.data.default_collate
    assert gs.utils.data._utils.worker.get_worker_info is gs.utils.data.get_worker_info


def test_states_of_devices():
    states = gs.utils.checkpoint.get_device_states(gs.ones(1), 3)
    assert states == ([], []) and gs.utils.checkpoint.set_device_states(*states) is None
    with pytest.raises(RuntimeError, match="CPU only"):
        gs.utils.checkpoint.set_device_states([0], [gs.ones(1)])


def test_nothing_warns_when_it_is_imported():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gs.fx and gs.hub and nn.grad and nn.common_types and nn.utils.stateless
