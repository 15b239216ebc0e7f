"""Names of PyTorch that libraries import and programs rarely do."""

import collections
import importlib
import operator
import pickle
import re
import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.names.table import MISSING

# ---- types


def test_types():
    with gs.compat.as_torch():
        from torch.types import Device, Number, _dtype, _float, _int, _size
    assert isinstance(3, Number) and isinstance("cpu", Device) and not isinstance(3.0, Device)
    assert isinstance(gs.ones(2).shape, _size) and (_int, _float, _dtype) == (int, float, np.dtype)
    assert isinstance(True, gs.types._Number) and gs.types._layout is gs.layout


def test_layouts_that_no_tensor_has():
    layouts = [gs.strided, gs.sparse_coo, gs.sparse_csr, gs.sparse_csc, gs.sparse_bsr, gs.sparse_bsc]
    assert len(set(layouts)) == 6 and all(isinstance(layout, gs.layout) for layout in layouts)
    assert gs.ones(1).layout not in layouts[1:] and pickle.loads(pickle.dumps(gs.sparse_csr)) is gs.sparse_csr
    with pytest.raises(NotImplementedError, match="scipy.sparse"):
        gs.zeros(2, layout=gs.sparse_csr)


def test_futures():
    assert gs.Future is gs.jit.Future is gs.futures.Future


def test_modules_are_there_by_attribute_and_by_import():
    names = ["_C", "__config__", "_dynamo", "_tensor", "_utils", "_vmap_internals", "functional", "onnx", "overrides"]
    names += ["nn.parallel.distributed", "nn.parallel.scatter_gather", "distributed.constants", "nn.utils.prune"]
    for name in names:
        with gs.compat.as_torch():
            module = importlib.import_module(f"torch.{name}")
        assert module is operator.attrgetter(name)(gs)
    assert gs._tensor.Tensor is gs.Tensor and gs.functional.einsum is gs.einsum
    assert gs.nn.parallel.distributed.DistributedDataParallel is gs.nn.parallel.DistributedDataParallel
    assert gs.distributed.constants.default_pg_timeout == gs.distributed.default_pg_timeout


# ---- small functions


def test_small_functions():
    assert gs._assert(True, "message") is None
    with pytest.raises(AssertionError, match="message"):
        gs._assert(gs.tensor(False), "message")
    assert gs._segment_reduce(gs.arange(4.0), "sum", lengths=gs.tensor([1, 3])).tolist() == [0, 6]
    assert not gs.onnx.is_in_onnx_export() and gs.profiler.kineto_available()
    assert gs._dynamo.disable(len) is len and not gs._dynamo.is_compiling()
    assert "numpy" in gs.__config__.show() and gs.__config__.parallel_info()
    assert gs._C._log_api_usage_once("library") is None
    assert isinstance(gs.distributed.ReduceOp.SUM, gs.distributed.ReduceOp.RedOpType)


def test_names_of_the_compiled_half():
    assert gs._C._LinAlgError is gs.linalg.LinAlgError
    assert gs._C._TensorBase is gs.Tensor and gs._C.Generator is gs.Generator
    with gs.enable_grad():
        gs._C._set_grad_enabled(False)
        assert not gs.is_grad_enabled()
    gs._dynamo.config.suppress_errors = True


def test_names_of_types():
    values = [gs.ones(2), gs.ones(1, dtype=gs.bool), nn.Linear, nn.Linear(1, 1), 3, len, test_types, None, int, gs]
    assert list(map(gs.typename, values)) == [
        "torch.FloatTensor", "torch.BoolTensor", "gradsmith.nn.modules.linear.Linear",
        "gradsmith.nn.modules.linear.Linear", "int", "len", f"{__name__}.test_types", "NoneType", "int", "gradsmith",
    ]  # fmt: skip


def test_switches_of_anomaly_mode():
    assert not gs.is_anomaly_enabled()
    gs.set_anomaly_enabled(True)
    assert gs.is_anomaly_enabled() and gs.autograd.anomaly_mode.is_anomaly_enabled()
    gs.set_anomaly_enabled(False)
    assert gs.is_anomaly_check_nan_enabled() and not gs.is_anomaly_enabled()


def test_sparse_products_of_tensors():
    a, b = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), gs.tensor([[1.0], [1.0]])
    assert gs.spmm(a, b).tolist() == gs.sparse.mm(a, b).tolist() == [[3], [7]] and gs.spmm(a, b).requires_grad
    sparse = pytest.importorskip("scipy.sparse").csr_array([[0.0, 2.0]])
    assert gs.sparse.mm(sparse, b.double()).tolist() == [[2]]


def test_elements_one_by_one():
    x = gs.arange(4.0).reshape(2, 2)
    assert x.T.apply_(lambda value: value + 1).tolist() == [[1, 3], [2, 4]] and x.tolist() == [[1, 2], [3, 4]]
    assert x.map_(gs.tensor([1.0, 2.0]), lambda a, b: a * b) is x and x.tolist() == [[1, 4], [3, 8]]
    assert x.map2_(x.clone(), gs.ones(1), lambda a, b, c: a - b + c).tolist() == [[1, 1], [1, 1]]
    assert gs.tensor([1, 2]).apply_(lambda value: value * 1.5).tolist() == [1, 3]
    assert gs.tensor([True, False]).apply_(lambda value: not value).tolist() == [False, True]
    assert gs.empty(0, 2).apply_(abs).shape == (0, 2) and gs.empty(2, device="meta").apply_(abs).is_meta


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.apply_(3), TypeError, "'int' object is not callable"),
        (lambda x: x.apply_(lambda value: 1 / 0), ZeroDivisionError, "division"),
        (lambda x: x.requires_grad_().apply_(abs), RuntimeError, r"Can't call apply_\(\) .* var\.detach\(\)\.apply_"),
        (lambda x: x.map_(gs.ones(2).requires_grad_(), max), RuntimeError, r"Can't call map_\(\) on Variable"),
        (lambda x: x.map_(3, max), TypeError, "must be Tensor, not int"),
        (lambda x: x.map_(gs.tensor([1]), max), TypeError, "map_: expected torch.FloatTensor for 'other' .*LongTensor"),
        (lambda x: x.map_(gs.ones(3), max), RuntimeError, "must match the existing size"),
        (lambda x: x.expand(3, 2).apply_(abs), RuntimeError, "single memory location"),
    ],
)
def test_elements_one_by_one_that_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(gs.ones(2))


def test_whether_a_transform_is_running():
    answers = []

    def function(x):
        answers.append(gs._C._are_functorch_transforms_active())
        return (x * x).sum()

    x = gs.ones(3)
    function(x)
    gs.compile(function)(x)
    assert answers and not any(answers)
    answers.clear()
    for transformed in (gs.func.grad(function), gs.vmap(function), gs.func.hessian(function), gs.func.jacrev(function)):
        transformed(x)
    gs.compile(gs.func.grad(function))(x)
    assert len(answers) >= 5 and all(answers)
    assert not gs._C._are_functorch_transforms_active()


def test_helpers_of_transformers():
    from gradsmith.nn.modules.transformer import _get_activation_fn, _get_clones

    layers = _get_clones(gs.nn.Linear(2, 2), 3)
    assert len(layers) == 3 and layers[0].weight is not layers[1].weight
    assert _get_activation_fn("gelu") is gs.nn.functional.gelu


@pytest.mark.parametrize(
    ("arguments", "wanted"), [((1, 4), [1, 2, 3, 4]), ((0, 1, 0.5), [0, 0.5, 1]), ((3, 1, -1), [3, 2, 1])]
)
def test_range_has_its_end(arguments, wanted):
    with pytest.warns(UserWarning, match=r"torch.range is deprecated"):
        found = gs.range(*arguments)
    assert found.tolist() == wanted and found.dtype == gs.float32


@pytest.mark.filterwarnings("ignore:torch.range")
def test_range_with_dtype_and_what_it_refuses():
    assert gs.range(1, 3, dtype=gs.int64).dtype == gs.int64
    for arguments, error in (((1, 3, 0), RuntimeError), ((1, 3, -1), RuntimeError), ((), TypeError)):
        with pytest.raises(error, match=r"range\(\)"):
            gs.range(*arguments)


def test_arguments_of_to():
    parse, cpu = gs._C._nn._parse_to, gs.device("cpu")
    assert parse("cpu", gs.float64, True) == (cpu, gs.float64, True, None)
    assert parse(gs.float64) == (None, gs.float64, False, None)
    assert parse(gs.ones(1)) == (cpu, gs.float32, False, None)
    assert parse(device="cpu", non_blocking=True, memory_format=gs.channels_last) == (cpu, None, True, gs.channels_last)


def test_streams_of_cuda():
    assert gs.cuda.default_generators == ()
    for cls in (gs.cuda.Stream, gs.cuda.Event, gs.cuda.CUDAGraph, gs.cuda.graph):
        with pytest.raises(RuntimeError, match="CPU only"):
            cls()
    with gs.autograd.profiler.emit_nvtx(enabled=False):
        pass
    with pytest.raises(RuntimeError, match="no CUDA device"), gs.autograd.profiler.emit_nvtx():
        pass


def test_blocks_without_a_device_and_generators_of_cuda():
    with gs.cuda.stream(None), gs.cuda.device(-1), gs.cuda.device_of(gs.ones(1)):
        pass
    with gs.compat.as_torch():
        from torch.cuda import random
    assert random.manual_seed(1) is random.set_rng_state(gs.get_rng_state()) is gs.cuda.set_device(-1) is None
    assert random.get_rng_state_all() == []
    for call in (random.get_rng_state, random.initial_seed, gs.cuda.mem_get_info):
        with pytest.raises(RuntimeError, match="CPU only"):
            call()
    for call in (gs.cuda.device, gs.cuda.set_device):
        with pytest.raises(RuntimeError, match="CPU only"):
            call(0)


def test_libraries_that_are_not_used_may_be_preferred():
    cuda = gs.backends.cuda
    assert cuda.preferred_linalg_library() is cuda.preferred_linalg_library("default")
    assert cuda.preferred_linalg_library("magma") is cuda.preferred_linalg_library()
    assert cuda.preferred_linalg_library("default").name == "Default"
    assert cuda.preferred_blas_library("cublaslt").name == "Cublaslt" and cuda.preferred_blas_library("default")
    with pytest.raises(RuntimeError, match="Choose from"):
        cuda.preferred_linalg_library("lapack")


def test_storages_are_told_from_tensors():
    assert gs.is_storage(gs.ones(1).untyped_storage()) and not gs.is_storage(gs.ones(1))


def test_passes_over_a_loader():
    from gradsmith.utils.data import dataloader

    batches = iter(gs.utils.data.DataLoader([1, 2]))
    assert isinstance(batches, dataloader._SingleProcessDataLoaderIter)
    assert isinstance(batches, dataloader._BaseDataLoaderIter)
    assert not isinstance(batches, dataloader._MultiProcessingDataLoaderIter)


def test_tasks_and_settings_of_scripts():
    future = gs.jit.fork(lambda x, y=1: x + y, gs.ones(2), y=2)
    assert isinstance(future, gs.jit.Future) and gs.jit.wait(future).tolist() == [3, 3]
    with pytest.raises(ZeroDivisionError):
        gs.jit.fork(lambda: 1 // 0)
    assert gs.jit.set_fusion_strategy([("DYNAMIC", 1)]) == [("STATIC", 2), ("DYNAMIC", 10)]
    assert gs.jit.enable_onednn_fusion(True) is None and not gs.jit.onednn_fusion_enabled()
    with gs.jit.optimized_execution(False), gs.jit.fuser("fuser1"):
        pass
    assert gs._C._jit_set_profiling_executor(False) is None and not gs._C._jit_can_fuse_on_gpu()
    assert not gs._C._is_tracing() and gs._C._show_config() == gs.__config__.show()
    assert gs._C._get_default_device() == "cpu" and gs._C.TensorBase is gs.Tensor
    assert not isinstance(gs.ones(1), (gs._C.Value, gs._C.Node, gs._C.Graph))
    with pytest.raises(AttributeError, match="_nothing"):
        operator.attrgetter("_nothing")(gs._C)


def test_options_of_compilers_may_be_set():
    with gs.compat.as_torch():
        import torch._inductor.config
        from torch._dynamo import config
    config.cache_size_limit = max(config.cache_size_limit, 64)
    torch._inductor.config.coordinate_descent_tuning = True
    torch._inductor.config.triton.unique_kernel_names = True
    assert gs._dynamo.config.cache_size_limit == 64

    @gs._inductor.config.patch("max_autotune", True)
    def double(x):
        with config.patch(verbose=True):
            return 2 * x

    assert double(3) == 6
    assert gs._dynamo.graph_break() is gs._dynamo.mark_dynamic(gs.ones(2), 0, max=4) is gs._dynamo.mark_static(1)


def test_functions_of_the_compiled_half():
    assert gs._VF.lstm is gs.lstm and gs._VF.gru_cell is gs.gru_cell
    with pytest.raises(AttributeError):
        operator.attrgetter("no_such_function")(gs._VF)
    assert gs._shape_as_tensor(gs.ones(2, 3)).tolist() == [2, 3]
    assert gs._has_compatible_shallow_copy_type(gs.ones(1), gs.ones(2))
    assert gs._utils._element_size(gs.float64) == 8 and gs._utils._element_size(gs.bfloat16) == 2


def test_dtypes_of_autocast():
    assert gs.get_autocast_dtype("cpu") == gs.get_autocast_cpu_dtype() == gs.bfloat16
    assert gs.get_autocast_dtype("cuda") == gs.get_autocast_gpu_dtype() == gs.float16
    assert not gs.is_autocast_cpu_enabled()


def test_functions_of_sizes():
    assert gs.sym_int(-2.5) == -2 and gs.sym_float(2) == 2.0 and isinstance(gs.sym_float(2), float)
    assert (gs.sym_max(1, 2), gs.sym_min(1, 2.0), gs.sym_sum([1, 2, 3])) == (2, 1.0, 6)
    assert isinstance(gs.sym_max(2, 1.0), float)
    assert gs.sym_not(False) and gs.sym_ite(False, 1, 2) == 2


def test_nodes_of_trees_by_their_own_functions():
    tree = gs.utils._pytree
    Pair = collections.namedtuple("Pair", "x y")
    ordered = collections.OrderedDict(a=1, b=2)
    for kind, node in (
        ("list", [1, 2]), ("tuple", (1, 2)), ("namedtuple", Pair(1, 2)), ("dict", {"a": 1, "b": 2}),
        ("ordereddict", ordered),
    ):  # fmt: skip
        children, context = getattr(tree, f"_{kind}_flatten")(node)
        assert list(children) == [1, 2]
        found = getattr(tree, f"_{kind}_unflatten")(iter(children), context)
        assert found == node and type(found) is type(node)


def test_initial_values_by_older_names():
    x = gs.ones(3)
    gs.nn.init._no_grad_uniform_(x, 2.0, 3.0)
    assert bool(((x >= 2) & (x <= 3)).all())
    assert gs.nn.init._no_grad_normal_(x, 5.0, 0.0).tolist() == [5, 5, 5]
    assert bool((gs.nn.init._no_grad_trunc_normal_(x, 0.0, 1.0, -1.0, 1.0).abs() <= 1).all())
    assert gs.nn.init._no_grad_fill_(x, 7.0).tolist() == [7, 7, 7] and not gs.nn.init._no_grad_zero_(x).any()


def test_tuples_of_sizes_stand_beside_convolutions():
    assert nn.modules.conv._pair(2) == (2, 2) and nn.modules.conv._triple((1, 2, 3)) == (1, 2, 3)
    assert nn.parallel.scatter(gs.arange(2), ["cpu", "cpu"])[1].tolist() == [1]


# ---- parts of attention


def test_projections_of_attention():
    F = nn.functional
    x, y, z, weights, bias = gs.randn(2, 4), gs.randn(3, 4), gs.randn(3, 4), gs.randn(12, 4), gs.randn(12)
    for inputs in ((x, x, x), (x, y, y), (x, y, z)):
        wanted = [one @ w.T + b for one, w, b in zip(inputs, weights.split(4), bias.split(4))]
        for one, other in zip(F._in_projection_packed(*inputs, weights, bias), wanted, strict=True):
            assert gs.allclose(one, other, atol=1e-6)
        for one, other in zip(F._in_projection(*inputs, *weights.split(4), *bias.split(4)), wanted, strict=True):
            assert gs.allclose(one, other, atol=1e-6)
    assert gs.allclose(F._in_projection_packed(x, y, y, weights)[2], y @ weights[8:].T, atol=1e-6)


def test_masks_of_attention_as_numbers():
    F, mask = nn.functional, gs.tensor([True, False])
    assert F._canonical_mask(mask, "mask", None, "", gs.float64).tolist() == [-np.inf, 0]
    assert F._canonical_mask(gs.ones(2), "mask", gs.float32, "other", gs.float64).dtype == gs.float32
    assert F._canonical_mask(None, "mask", None, "", gs.float32) is F._none_or_dtype(None) is None
    assert F._none_or_dtype(mask) == gs.bool and F._Reduction.get_enum("sum") == 2
    with pytest.raises(AssertionError, match="mask"):
        F._canonical_mask(gs.tensor([1]), "mask", None, "", gs.float32)
    with pytest.warns(UserWarning, match="mismatched"):
        F._canonical_mask(mask, "mask", gs.float32, "other", gs.float32)
    with pytest.warns(UserWarning, match="Implicit dimension"):
        assert [F._get_softmax_dim("softmax", ndim, 3) for ndim in range(5)] == [0, 0, 1, 0, 1]


# ---- vectors of tensors, slices, devices


def test_tensors_as_one_vector():
    tensors = [gs.tensor([[1.0, 2.0], [3.0, 4.0]]), gs.tensor(5.0)]
    flat = gs._utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [1, 2, 3, 4, 5] and gs._utils._flatten_dense_tensors(tensors[:1]).shape == (4,)
    parts = gs._utils._unflatten_dense_tensors(flat, tensors)
    flat.zero_()
    assert [part.tolist() for part in parts] == [[[0, 0], [0, 0]], 0]


def test_groups_of_some_bytes():
    tensors = [gs.ones(n, dtype=gs.float64 if n == 2 else gs.float32) for n in (3, 2, 1, 4, 9)]
    groups = gs._utils._take_tensors(tensors, 16)
    assert [[tensor.numel() for tensor in group] for group in groups] == [[3, 1], [4], [9], [2]]


def test_vmap_with_results_that_are_none():
    x = gs.ones(2, 3)
    first, nothing, third = gs._vmap_internals._vmap(lambda x: (x, None, 2 * x), 0, (1, 0, 0), True)(x)
    assert first.shape == (3, 2) and nothing is None and gs.equal(third, 2 * x)
    assert gs._vmap_internals._vmap(lambda x: (None,), allow_none_pass_through=True)(x) == (None,)
    assert gs.equal(gs._vmap_internals._vmap(lambda x: 2 * x, allow_none_pass_through=True)(x), 2 * x)
    assert gs.equal(gs._vmap_internals.vmap(lambda x: 2 * x)(x), 2 * x)


def test_parts_of_devices():
    from gradsmith.nn.parallel.scatter_gather import gather, is_namedtuple, scatter, scatter_kwargs

    Pair = collections.namedtuple("Pair", "x y")
    x = gs.arange(4.0)
    tree = {"a": Pair(x, [x, "text"]), "b": ()}
    parts = scatter(tree, ["cpu", "cpu"])
    assert [part["a"].x.tolist() for part in parts] == [[0, 1], [2, 3]] and parts[0]["a"].y[1] == "text"
    joined = gather([part["a"].x for part in parts], "cpu")
    assert gs.equal(joined, x) and gather([None, None], "cpu") is None
    assert gather([Pair(gs.tensor(1.0), x[:1]), Pair(gs.tensor(2.0), x[1:])], "cpu").x.tolist() == [1, 2]
    assert gather([{"x": [x]}, {"x": [x]}], "cpu")["x"][0].shape == (8,) and is_namedtuple(Pair)
    positions, named = scatter_kwargs((x,), {}, ["cpu", "cpu"])
    assert len(positions) == 2 and named == ({}, {})
    for call in (lambda: scatter(x, ["cuda:0"]), lambda: gather([{"x": x}, {}], "cpu"), lambda: gather([1], "cpu")):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            call()


# ---- classes that take over functions


class Base:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return cls, func, types, args, kwargs


class Sub(Base):
    pass


class Declines(Base):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def test_classes_that_take_over():
    with gs.compat.as_torch():
        from torch.overrides import has_torch_function_unary, has_torch_function_variadic, is_tensor_like

    @gs.overrides.wrap_torch_function(lambda *args, **options: args)
    def function(*args, **options):
        """Its own work."""
        return "its own work"

    a, b, x = Base(), Sub(), gs.ones(1)
    assert function(x) == "its own work" and function.__doc__ == "Its own work."
    assert function(a, x, b, option=1) == (Sub, function, (Sub, Base), (a, x, b), {"option": 1})
    assert function(Declines(), a)[0] is Base
    with pytest.raises(TypeError, match="no implementation found"):
        function(Declines())
    assert not has_torch_function_unary(x) and has_torch_function_variadic(x, a)
    assert is_tensor_like(x) and is_tensor_like(a) and not is_tensor_like(3)


@pytest.mark.parametrize("base", [gs.Tensor, nn.Parameter])
def test_classes_with_a_method_that_nothing_calls(base):
    method = classmethod(lambda cls, func, types, args=(), kwargs=None: None)
    with pytest.warns(UserWarning, match=r"Taking\.__torch_dispatch__ is never called.*__torch_function__") as found:
        Taking = type("Taking", (base,), {"__torch_dispatch__": method})
    assert len(found) == 1 and found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        type("Further", (Taking,), {})
        type("Plain", (base,), {"__torch_dispatch__": gs._C._disabled_torch_function_impl})
    assert gs.ones(2).as_subclass(Taking).add(1).tolist() == [2, 2]


# ---- operators by the names of PyTorch's table


def test_operators():
    x = gs.tensor([1.0, -2.0], requires_grad=True)
    assert gs.ops.aten.add.Tensor(x, x).tolist() == gs.ops.aten.add(x, x).tolist() == [2, -4]
    assert gs.ops.aten.relu.default(x).grad_fn is not None
    assert gs.ops.aten.linalg_vector_norm(gs.tensor([3.0, 4.0])).item() == 5
    assert gs.ops.aten.sum.dim_IntList(gs.ones(2, 3), [1]).tolist() == [3, 3]
    assert gs.ops.aten.add_(gs.zeros(1), 2).item() == 2 and gs.ops.aten.log_softmax(x, 0).shape == (2,)
    assert gs.ops.aten.mul is gs.ops.aten.mul and repr(gs.ops.aten.mul.Scalar) == "<operator aten.mul>"


def test_operators_that_are_methods_or_indices():
    x = gs.arange(12.0).view(3, 4)
    assert gs.ops.aten.slice.Tensor(x, -1, 1, 4, 2).tolist() == [[1, 3], [5, 7], [9, 11]]
    assert gs.ops.aten.slice(x).shape == (3, 4) and gs.ops.aten.alias.default(x).data_ptr() == x.data_ptr()
    assert gs.ops.aten._unsafe_view(x, [2, 6]).shape == (2, 6)
    copied = gs.ops.aten._to_copy.default(x)
    assert gs.equal(copied, x) and copied.data_ptr() != x.data_ptr()
    assert gs.ops.aten._to_copy(x, dtype=gs.int64).dtype == gs.int64


def test_internal_operators_may_be_named():
    operator = gs.ops.aten._sparse_mm_reduce_impl.default
    with pytest.raises(NotImplementedError, match=r"aten\._sparse_mm_reduce_impl .* internal operator"):
        operator(gs.ones(1))


def test_operators_that_are_not_there():
    with pytest.raises(AttributeError, match="torch.ops.aten.ad has no counterpart"):
        gs.ops.aten.ad  # noqa: B018
    with pytest.raises(AttributeError, match="Quantisation"):
        gs.ops.aten.quantize_per_tensor  # noqa: B018
    with pytest.raises(AttributeError, match="torch.ops.mine has no counterpart.*load_ops"):
        gs.ops.mine  # noqa: B018


@pytest.mark.parametrize("module", [module for module in MISSING if module.startswith("torch")])
def test_a_name_that_is_not_there_says_why(module):
    for reason, names in MISSING[module].items():
        for name in names.split():
            if name.startswith(("Tensor.", "Module.")):
                continue
            with pytest.raises(AttributeError, match=f"(?s){re.escape(name)}.*{re.escape(reason)}"):
                operator.attrgetter(f"{module}.{name}".partition(".")[2])(gs)


# ---- what is asked whether it is there


def test_calls_between_processes_are_not_available():
    import gradsmith.distributed.autograd as gradients
    import gradsmith.distributed.rpc as calls
    from gradsmith.distributed.elastic.multiprocessing.errors import record

    assert not calls.is_available() and not gradients.is_available() and gs.distributed.rpc is calls
    with pytest.raises(AttributeError, match="'remote'.*|broadcast_object_list"):
        calls.remote  # noqa: B018
    with pytest.raises(AttributeError, match="'backward'"):
        gradients.backward  # noqa: B018
    with pytest.raises(RuntimeError, match="not available"):
        gradients.context()
    assert record(len) is len


def test_modules_of_one_class_each():
    from gradsmith.cpu.amp.autocast_mode import autocast
    from gradsmith.cuda.amp.grad_scaler import GradScaler
    from gradsmith.distributions.multivariate_normal import _precision_to_scale_tril

    assert GradScaler is gs.cuda.amp.GradScaler is gs.cuda.amp.grad_scaler.GradScaler
    assert autocast is gs.cpu.amp.autocast
    precision = np.array([[2.0, 0.5], [0.5, 1.0]])
    factor = _precision_to_scale_tril(gs.from_numpy(precision)).numpy()
    np.testing.assert_allclose(factor @ factor.T, np.linalg.inv(precision))
    assert factor[0, 1] == 0


# ---- rows of sparse matrices


def test_rows_and_where_they_begin():
    rows, columns = gs.tensor([0, 0, 1, 3]), gs.tensor([1, 2, 0, 1])
    begins = gs._convert_indices_from_coo_to_csr(rows, 5)
    assert begins.tolist() == [0, 2, 3, 3, 4, 4] and begins.dtype == gs.int64
    assert gs._convert_indices_from_coo_to_csr(rows, 5, out_int32=True).dtype == gs.int32
    assert gs._convert_indices_from_csr_to_coo(begins, columns).tolist() == [rows.tolist(), columns.tolist()]
    turned = gs._convert_indices_from_csr_to_coo(begins, columns, out_int32=True, transpose=True)
    assert turned.tolist() == [columns.tolist(), rows.tolist()] and turned.dtype == gs.int32


# ---- texts of tensors


def test_parts_of_the_text_of_a_tensor():
    from gradsmith import _tensor_str

    x = gs.tensor([[1.0, 2.5], [3.0, 4.0]], requires_grad=True)
    assert _tensor_str._tensor_str(x, 3) == "[[1.0000, 2.5000],\n    [3.0000, 4.0000]]"
    assert _tensor_str._tensor_str(gs.ones(0), 0) == "[]" and _tensor_str._str(x) == repr(x)
    assert _tensor_str._str_intern(x, tensor_contents="...") == "tensor(..., requires_grad=True)"
    assert _tensor_str._add_suffixes("tensor(1", ["size=2", "a=3"], 4, True) == "tensor(1,\n    size=2,\n    a=3)"
    with gs.printoptions():
        _tensor_str.PRINT_OPTS.precision = 2
        assert _tensor_str.PRINT_OPTS.precision == 2 and repr(gs.tensor(0.5)) == "tensor(0.50)"
    with pytest.raises(AttributeError, match="no option 'digits'"):
        _tensor_str.PRINT_OPTS.digits  # noqa: B018
