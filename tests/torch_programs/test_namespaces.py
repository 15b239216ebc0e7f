"""The namespaces of PyTorch that have little to do on one CPU: they answer as PyTorch does without other devices."""

import copy
import pickle

import pytest

import gradsmith as gs


def test_devices_that_are_not_there():
    for module in (gs.cuda, gs.mps, gs.xpu, gs.accelerator):
        assert module.is_available() is False and module.device_count() == 0
        assert module.empty_cache() is None and module.synchronize() is None
    for module in (gs.cuda, gs.mps, gs.xpu):
        assert module.manual_seed(3) is None and module.seed() is None
    assert gs.cuda.manual_seed_all(3) is None and not gs.cuda.is_initialized() and not gs.cuda.is_bf16_supported()
    assert gs.cuda.memory_allocated() == gs.cuda.max_memory_allocated(0) == 0 and gs.cuda.memory_stats() == {}
    assert gs.cuda.get_rng_state_all() == [] and gs.cuda.set_rng_state_all([]) is None
    assert gs.accelerator.current_accelerator() is None
    with gs.cuda.device_of(gs.ones(1)):
        pass
    with pytest.raises(RuntimeError, match="CPU only"):
        gs.cuda.set_rng_state_all([gs.ones(1)])


def test_a_seed_of_cuda_leaves_the_generator_alone():
    gs.manual_seed(0)
    expected = gs.rand(3)
    gs.manual_seed(0)
    gs.cuda.manual_seed_all(5)
    assert gs.equal(gs.rand(3), expected)


def test_types_of_cuda():
    assert not isinstance(gs.ones(1), gs.cuda.FloatTensor)
    with pytest.raises(TypeError, match="not available"):
        gs.cuda.LongTensor(3)


def test_settings_of_libraries():
    import gradsmith.backends.cudnn as cudnn

    assert cudnn is gs.backends.cudnn and not cudnn.is_available() and cudnn.version() is None
    assert not any(
        getattr(gs.backends, name).is_available() for name in ("mkl", "mkldnn", "mps", "openmp", "opt_einsum")
    )
    assert not gs.backends.cuda.is_built() and not gs.backends.mps.is_built()
    before = cudnn.benchmark
    with cudnn.flags(enabled=False, benchmark=True, deterministic=True):
        assert cudnn.benchmark and cudnn.deterministic and not cudnn.enabled
    assert cudnn.benchmark is before and cudnn.enabled
    gs.backends.cuda.matmul.allow_tf32 = False


def test_deterministic_algorithms():
    assert not gs.are_deterministic_algorithms_enabled() and gs.get_deterministic_debug_mode() == 0
    try:
        gs.use_deterministic_algorithms(True, warn_only=True)
        assert gs.are_deterministic_algorithms_enabled() and gs.is_deterministic_algorithms_warn_only_enabled()
        assert gs.get_deterministic_debug_mode() == 1
        gs.set_deterministic_debug_mode("error")
        assert gs.get_deterministic_debug_mode() == 2
        with pytest.raises(RuntimeError, match="debug_mode"):
            gs.set_deterministic_debug_mode(7)
    finally:
        gs.use_deterministic_algorithms(False)
    assert gs.get_deterministic_debug_mode() == 0


def test_other_settings():
    try:
        gs.set_float32_matmul_precision("high")
        assert gs.get_float32_matmul_precision() == "high"
        gs.set_num_interop_threads(2)
        assert gs.get_num_interop_threads() == 2
        gs.set_warn_always(True)
        assert gs.is_warn_always_enabled()
    finally:
        gs.set_float32_matmul_precision("highest")
        gs.set_num_interop_threads(1)
        gs.set_warn_always(False)
    assert gs.set_flush_denormal(True) is False
    with pytest.raises(RuntimeError, match="positive"):
        gs.set_num_interop_threads(0)


@pytest.mark.parametrize("kind", ["torch.DoubleTensor", gs.DoubleTensor])
def test_default_type(kind):
    try:
        gs.set_default_tensor_type(kind)
        assert gs.tensor(1.0).dtype == gs.float64
    finally:
        gs.set_default_tensor_type(gs.FloatTensor)
    assert gs.tensor(1.0).dtype == gs.float32
    with pytest.raises(TypeError):
        gs.set_default_tensor_type(gs.LongTensor)
    with pytest.raises(TypeError):
        gs.set_default_tensor_type(3)


# ---- precision


def test_autocast_changes_nothing():
    x = gs.ones(2, 2)
    with gs.autocast("cpu", dtype=gs.bfloat16), gs.amp.autocast("cuda"), gs.cuda.amp.autocast():
        assert (x @ x).dtype == gs.float32 and not gs.is_autocast_enabled()

    @gs.autocast("cpu")
    def product(a):
        """A product."""
        return a @ a

    assert product(x).dtype == gs.float32 and product.__doc__ == "A product."
    assert not gs.amp.is_autocast_available("cuda")
    with pytest.raises(ValueError, match="device_type"):
        gs.autocast(3)


def test_custom_functions_of_autocast():
    class Double(gs.autograd.Function):
        @staticmethod
        @gs.amp.custom_fwd(device_type="cuda", cast_inputs=gs.float16)
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @gs.amp.custom_bwd(device_type="cuda")
        def backward(ctx, grad):
            return grad * 2

    x = gs.ones(1, requires_grad=True)
    Double.apply(x).backward()
    assert x.grad.item() == 2.0 and gs.cuda.amp.custom_fwd(len) is len


@pytest.mark.parametrize(
    "make", [lambda: gs.amp.GradScaler("cuda"), lambda: gs.cuda.amp.GradScaler(), lambda: gs.GradScaler()]
)
def test_an_enabled_scaler_warns(make):
    with pytest.warns(UserWarning, match="Disabling"):
        scaler = make()
    assert not scaler.is_enabled()


def test_a_step_with_a_scaler():
    w = gs.ones(1, requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.5)
    scaler = gs.amp.GradScaler(enabled=False)
    scaler.scale(w * 3).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == -0.5 and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    scaler.load_state_dict({})
    scaler.set_growth_factor(3.0)
    assert (
        scaler.get_growth_factor() == 3.0
        and scaler.get_backoff_factor() == 0.5
        and scaler.get_growth_interval() == 2000
    )
    assert scaler.scale([w])[0] is w


# ---- compilers


def test_compilers():
    model = gs.nn.Linear(2, 2)
    assert all(compiled._orig_mod is model for compiled in (gs.compile(model), gs.compile(mode="max-autotune")(model)))
    assert gs.compiler.disable(len) is len and gs.compiler.disable(recursive=False)(len) is len
    assert not gs.compiler.is_compiling() and gs.compiler.list_backends() == []
    assert gs.jit.script(model) is gs.jit.trace(model, gs.ones(1, 2)) is gs.jit.freeze(model) is model
    assert gs.jit.ignore(len) is len and gs.jit.ignore(drop=True)(len) is len and gs.jit.unused(len) is len
    assert not gs.jit.is_scripting() and not gs.jit.is_tracing() and gs.jit.annotate(int, 3) == 3
    assert gs.jit.ScriptModule is gs.ScriptModule and issubclass(gs.ScriptModule, gs.nn.Module)
    assert not isinstance(model, gs.ScriptModule) and not isinstance(gs.jit.script(len), gs.jit.ScriptFunction)
    assert gs.jit._overload(len) is gs.jit._overload_method(len) is len
    with pytest.raises(TypeError, match="gradsmith.compile"):
        gs.jit.ScriptFunction()
    with gs.jit.strict_fusion():
        pass


def test_version():
    assert gs.version.cuda is None and gs.version.__version__ == gs.__version__


def test_classes_are_pickled_by_their_names():
    for value in (gs.bfloat16, gs.strided, gs.float32, gs.device("cpu"), gs.zeros(2).shape):
        assert pickle.loads(pickle.dumps(value)) == value


def test_dtypes_that_numpy_lacks_may_be_compared():
    x = gs.ones(2)
    assert x.dtype not in (gs.bfloat16, gs.complex32, gs.float8_e4m3fn) and repr(gs.bfloat16) == "gradsmith.bfloat16"
    assert {"bfloat16": gs.bfloat16, "float32": gs.float32}["float32"] == x.dtype


def test_sizes_of_dtypes_that_numpy_lacks():
    """The values are PyTorch's."""
    found = gs.finfo(gs.bfloat16)
    assert (gs.bfloat16.itemsize, gs.float8_e5m2.itemsize, gs.complex32.itemsize) == (2, 1, 4)
    assert (found.bits, found.dtype, found.eps, found.resolution) == (16, "bfloat16", 0.0078125, 0.01)
    assert found.max == -found.min == 3.3895313892515355e38
    assert found.tiny == found.smallest_normal == 1.1754943508222875e-38
    assert repr(found) == (
        "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, smallest_normal=1.17549e-38, "
        "tiny=1.17549e-38, dtype=bfloat16)"
    )
    assert [gs.finfo(dtype).max for dtype in (gs.float8_e5m2, gs.float8_e4m3fn, gs.complex32)] == [57344, 448, 65504]
    assert [gs.finfo(dtype).eps for dtype in (gs.float8_e5m2, gs.float8_e4m3fn)] == [0.25, 0.125]
    assert gs.finfo().bits == 32 and gs.finfo(gs.float64).eps == 2.0**-52 and gs.bfloat16.is_floating_point


def test_dtypes_that_numpy_lacks_are_dtypes():
    for dtype in (gs.bfloat16, gs.complex32, gs.float8_e5m2):
        assert (
            isinstance(dtype, gs.dtype) and copy.deepcopy(dtype) is dtype and pickle.loads(pickle.dumps(dtype)) is dtype
        )
    with pytest.raises(TypeError, match=r"zeros\(\): NumPy has no dtype complex32"):
        gs.zeros(2, dtype=gs.complex32)
    with pytest.raises(TypeError, match="NumPy has no dtype bfloat16"):
        gs.set_default_dtype(gs.bfloat16)
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'bfloat16': .*`gs.float16` takes half"):
        gs.nn.Linear(1, 1).bfloat16()


def test_size_of_an_element_of_a_dtype_that_numpy_lacks():
    """Libraries make a tensor of no elements to learn it, such as kornia's reader of safetensors."""
    dtypes = {"F32": gs.float32, "BF16": gs.bfloat16, "F8": gs.float8_e4m3fn}
    assert {name: gs.empty(0, dtype=dtype).element_size() for name, dtype in dtypes.items()} == {
        "F32": 4, "BF16": 2, "F8": 1,
    }  # fmt: skip
    nothing = gs.tensor([], dtype=gs.bfloat16)
    assert (nothing.dtype, nothing.numel(), len(nothing), nothing.itemsize, nothing.nbytes) == (gs.bfloat16, 0, 0, 2, 0)
    assert nothing.shape == (0,) and not isinstance(nothing, gs.Tensor) and not hasattr(nothing, "__array__")
    assert repr(gs.empty(2, 0, dtype=gs.bfloat16)) == "tensor([], size=(2, 0), dtype=gradsmith.bfloat16)"
    for make in (
        lambda: nothing.float(),
        lambda: gs.empty(1, dtype=gs.bfloat16),
        lambda: gs.tensor([1.0], dtype=gs.bfloat16),
    ):
        with pytest.raises(
            TypeError, match="NumPy has no dtype bfloat16, so no tensor can have it. .*float16 takes half"
        ):
            make()
    for use in (lambda: gs.ones(0) + nothing, lambda: gs.nn.Parameter(nothing), lambda: gs.cat([nothing])):
        with pytest.raises(TypeError):
            use()


def test_modules_of_another_metaclass():
    import abc

    class Base(gs.nn.Module, abc.ABC):
        @abc.abstractmethod
        def scale(self): ...

        def forward(self, x):
            return x * self.scale() * self.weight

    class Layer(Base):
        def __init__(self):
            super().__init__()
            self.weight = gs.nn.Parameter(gs.ones(1))

        def scale(self):
            return 3

    assert Layer()(gs.ones(1)).item() == 3.0 and len(list(Layer().parameters())) == 1
    with pytest.raises(TypeError, match="abstract"):
        Base()
