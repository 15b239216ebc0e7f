"""gradsmith: tensors over NumPy arrays that know how to differentiate what was computed with them.

>>> import gradsmith as gs
>>> x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])
"""

import importlib
import sys
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

import numpy as _numpy

from gradsmith import collector as _collector

try:
    with _collector.paused():
        from gradsmith import autograd, generated
        from gradsmith.generated import *  # noqa: F403
except ModuleNotFoundError as error:
    from gradsmith.unbuilt import unbuilt_error

    raise unbuilt_error(error) from None

from gradsmith import version as version
from gradsmith.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from gradsmith.generated import LAZY_NAMES as _lazy_ops
from gradsmith.generated import __all__ as _ops
from gradsmith.names.absent import mark_absent as _mark_absent
from gradsmith.names.element_by_element import add_methods as _add_methods
from gradsmith.names.finder import install as _install_finder
from gradsmith.names.protocols import support_overrides as _support_overrides
from gradsmith.runtime.arrays.array import (
    empty_cache,
    get_cache_limit,
    get_num_threads,
    set_cache_limit,
    set_num_threads,
)
from gradsmith.runtime.arrays.device import device, get_default_device, set_default_device
from gradsmith.runtime.arrays.dtypes import (
    bool_,
    can_cast,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    is_complex,
    is_floating_point,
    promote_types,
    result_type,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from gradsmith.runtime.graph.node import Node as _Node
from gradsmith.runtime.graph.tensor import set_public_name
from gradsmith.runtime.history.saved_hooks import SavedTensor as _SavedTensor
from gradsmith.runtime.tensors.factories.creation import (
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    scalar_tensor,
    tensor,
    zeros,
    zeros_like,
)
from gradsmith.subscripts import einsum as einsum  # type: ignore[assignment]  # takes lists of subscripts too
from gradsmith.version import __version__

if TYPE_CHECKING:
    from gradsmith import accelerator as accelerator
    from gradsmith import amp as amp
    from gradsmith import array_api as array_api
    from gradsmith import backends as backends
    from gradsmith import compat as compat
    from gradsmith import compiler as compiler
    from gradsmith import cuda as cuda
    from gradsmith import distributed as distributed
    from gradsmith import distributions as distributions
    from gradsmith import fft as fft
    from gradsmith import func as func
    from gradsmith import futures as futures
    from gradsmith import graph as graph
    from gradsmith import jit as jit
    from gradsmith import linalg as linalg
    from gradsmith import masked as masked
    from gradsmith import mps as mps
    from gradsmith import multiprocessing as multiprocessing
    from gradsmith import nn as nn
    from gradsmith import numpy as numpy
    from gradsmith import optim as optim
    from gradsmith import optimize as optimize
    from gradsmith import parallel as parallel
    from gradsmith import profiler as profiler
    from gradsmith import quasirandom as quasirandom
    from gradsmith import random as random
    from gradsmith import scipy as scipy
    from gradsmith import serialization as serialization
    from gradsmith import signal as signal
    from gradsmith import sparse as sparse
    from gradsmith import special as special
    from gradsmith import stats as stats
    from gradsmith import testing as testing
    from gradsmith import utils as utils
    from gradsmith import xpu as xpu
    from gradsmith.amp.autocast_mode import autocast as autocast
    from gradsmith.amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
    from gradsmith.amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
    from gradsmith.amp.autocast_mode import get_autocast_gpu_dtype as get_autocast_gpu_dtype
    from gradsmith.amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
    from gradsmith.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
    from gradsmith.amp.grad_scaler import GradScaler as GradScaler
    from gradsmith.backends.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
    from gradsmith.backends.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
    from gradsmith.backends.settings import get_float32_matmul_precision as get_float32_matmul_precision
    from gradsmith.backends.settings import get_num_interop_threads as get_num_interop_threads
    from gradsmith.backends.settings import (
        is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    )
    from gradsmith.backends.settings import is_warn_always_enabled as is_warn_always_enabled
    from gradsmith.backends.settings import set_default_tensor_type as set_default_tensor_type
    from gradsmith.backends.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
    from gradsmith.backends.settings import set_float32_matmul_precision as set_float32_matmul_precision
    from gradsmith.backends.settings import set_flush_denormal as set_flush_denormal
    from gradsmith.backends.settings import set_num_interop_threads as set_num_interop_threads
    from gradsmith.backends.settings import set_warn_always as set_warn_always
    from gradsmith.backends.settings import use_deterministic_algorithms as use_deterministic_algorithms
    from gradsmith.compat.torch.layers import affine_grid_generator as affine_grid_generator
    from gradsmith.compat.torch.layers import alpha_dropout as alpha_dropout
    from gradsmith.compat.torch.layers import alpha_dropout_ as alpha_dropout_
    from gradsmith.compat.torch.layers import batch_norm as batch_norm
    from gradsmith.compat.torch.layers import convolution as convolution
    from gradsmith.compat.torch.layers import dropout as dropout
    from gradsmith.compat.torch.layers import dropout_ as dropout_
    from gradsmith.compat.torch.layers import embedding_bag as embedding_bag
    from gradsmith.compat.torch.layers import feature_alpha_dropout as feature_alpha_dropout
    from gradsmith.compat.torch.layers import feature_alpha_dropout_ as feature_alpha_dropout_
    from gradsmith.compat.torch.layers import feature_dropout as feature_dropout
    from gradsmith.compat.torch.layers import feature_dropout_ as feature_dropout_
    from gradsmith.compat.torch.layers import frobenius_norm as frobenius_norm
    from gradsmith.compat.torch.layers import get_device as get_device
    from gradsmith.compat.torch.layers import instance_norm as instance_norm
    from gradsmith.compat.torch.layers import nuclear_norm as nuclear_norm
    from gradsmith.compat.torch.layers import rms_norm as rms_norm
    from gradsmith.compat.torch.symbols import SymBool as SymBool
    from gradsmith.compat.torch.symbols import SymFloat as SymFloat
    from gradsmith.compat.torch.symbols import SymInt as SymInt
    from gradsmith.compat.torch.symbols import sym_float as sym_float
    from gradsmith.compat.torch.symbols import sym_int as sym_int
    from gradsmith.compat.torch.symbols import sym_ite as sym_ite
    from gradsmith.compat.torch.symbols import sym_max as sym_max
    from gradsmith.compat.torch.symbols import sym_min as sym_min
    from gradsmith.compat.torch.symbols import sym_not as sym_not
    from gradsmith.compat.torch.symbols import sym_sum as sym_sum
    from gradsmith.compiler import compile as compile
    from gradsmith.control_flow import cond as cond
    from gradsmith.control_flow import fori_loop as fori_loop
    from gradsmith.control_flow import scan as scan
    from gradsmith.control_flow import while_loop as while_loop
    from gradsmith.counting import broadcast_shapes as broadcast_shapes
    from gradsmith.counting import histogram as histogram
    from gradsmith.counting import histogramdd as histogramdd
    from gradsmith.counting import lu as lu
    from gradsmith.counting import nonzero as nonzero
    from gradsmith.counting import tril_indices as tril_indices
    from gradsmith.counting import triu_indices as triu_indices
    from gradsmith.counting import unique as unique
    from gradsmith.counting import unique_consecutive as unique_consecutive
    from gradsmith.counting import unravel_index as unravel_index
    from gradsmith.cuda import OutOfMemoryError as OutOfMemoryError
    from gradsmith.extension.loading import load_ops as load_ops
    from gradsmith.func import grad as grad
    from gradsmith.func import value_and_grad as value_and_grad
    from gradsmith.func import vmap as vmap
    from gradsmith.futures import Future as Future
    from gradsmith.generated.complex_numbers import complex_of_parts as complex
    from gradsmith.generated.distances import grid_gradient as gradient
    from gradsmith.in_place import *  # noqa: F403
    from gradsmith.jit.scripts import ScriptFunction as ScriptFunction
    from gradsmith.jit.scripts import ScriptModule as ScriptModule
    from gradsmith.low_rank import pca_lowrank as pca_lowrank
    from gradsmith.low_rank import svd_lowrank as svd_lowrank
    from gradsmith.nn.chances import rrelu as rrelu
    from gradsmith.nn.chances import rrelu_ as rrelu_
    from gradsmith.nn.grids import grid_sampler as grid_sampler
    from gradsmith.nn.grids import grid_sampler_2d as grid_sampler_2d
    from gradsmith.nn.grids import grid_sampler_3d as grid_sampler_3d
    from gradsmith.nn.in_place import celu_ as celu_
    from gradsmith.nn.in_place import relu_ as relu_
    from gradsmith.nn.in_place import selu_ as selu_
    from gradsmith.nn.in_place import threshold_ as threshold_
    from gradsmith.nn.losses.distances import ctc_loss as ctc_loss
    from gradsmith.nn.normalizations import native_batch_norm as native_batch_norm
    from gradsmith.nn.recurrent import gru as gru
    from gradsmith.nn.recurrent import gru_cell as gru_cell
    from gradsmith.nn.recurrent import lstm as lstm
    from gradsmith.nn.recurrent import lstm_cell as lstm_cell
    from gradsmith.nn.recurrent import rnn_relu as rnn_relu
    from gradsmith.nn.recurrent import rnn_relu_cell as rnn_relu_cell
    from gradsmith.nn.recurrent import rnn_tanh as rnn_tanh
    from gradsmith.nn.recurrent import rnn_tanh_cell as rnn_tanh_cell
    from gradsmith.numpy_functions import astype as astype
    from gradsmith.numpy_functions import broadcast_arrays as broadcast_arrays
    from gradsmith.numpy_functions import compress as compress
    from gradsmith.numpy_functions import copy as copy
    from gradsmith.numpy_functions import copyto as copyto
    from gradsmith.numpy_functions import diag_indices as diag_indices
    from gradsmith.numpy_functions import diag_indices_from as diag_indices_from
    from gradsmith.numpy_functions import digitize as digitize
    from gradsmith.numpy_functions import extract as extract
    from gradsmith.numpy_functions import fill_diagonal as fill_diagonal
    from gradsmith.numpy_functions import flatnonzero as flatnonzero
    from gradsmith.numpy_functions import geomspace as geomspace
    from gradsmith.numpy_functions import identity as identity
    from gradsmith.numpy_functions import indices as indices
    from gradsmith.numpy_functions import iscomplex as iscomplex
    from gradsmith.numpy_functions import ix_ as ix_
    from gradsmith.numpy_functions import ndim as ndim
    from gradsmith.numpy_functions import place as place
    from gradsmith.numpy_functions import put_along_axis as put_along_axis
    from gradsmith.numpy_functions import putmask as putmask
    from gradsmith.numpy_functions import ravel_multi_index as ravel_multi_index
    from gradsmith.numpy_functions import shape as shape
    from gradsmith.numpy_functions import size as size
    from gradsmith.numpy_functions import tri as tri
    from gradsmith.numpy_functions import tril_indices_from as tril_indices_from
    from gradsmith.numpy_functions import triu_indices_from as triu_indices_from
    from gradsmith.random.top_level import _sample_dirichlet as _sample_dirichlet
    from gradsmith.random.top_level import _standard_gamma as _standard_gamma
    from gradsmith.random.top_level import binomial as binomial
    from gradsmith.random.top_level import poisson as poisson
    from gradsmith.runtime.arrays.dtypes import bfloat16 as bfloat16
    from gradsmith.runtime.arrays.dtypes import chalf as chalf
    from gradsmith.runtime.arrays.dtypes import complex32 as complex32
    from gradsmith.runtime.arrays.dtypes import float8_e4m3fn as float8_e4m3fn
    from gradsmith.runtime.arrays.dtypes import float8_e5m2 as float8_e5m2
    from gradsmith.runtime.arrays.limits import finfo as finfo
    from gradsmith.runtime.arrays.limits import iinfo as iinfo
    from gradsmith.runtime.engine.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
    from gradsmith.runtime.engine.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
    from gradsmith.runtime.engine.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
    from gradsmith.runtime.graph.printing import get_printoptions as get_printoptions
    from gradsmith.runtime.graph.printing import printoptions as printoptions
    from gradsmith.runtime.graph.printing import set_printoptions as set_printoptions
    from gradsmith.runtime.graph.size import Size as Size
    from gradsmith.runtime.tensors.factories.exchange import from_dlpack as from_dlpack
    from gradsmith.runtime.tensors.factories.exchange import frombuffer as frombuffer
    from gradsmith.runtime.tensors.factories.exchange import to_dlpack as to_dlpack
    from gradsmith.runtime.tensors.factories.mapped_files import from_file as from_file
    from gradsmith.runtime.tensors.factories.memory import empty_permuted as empty_permuted
    from gradsmith.runtime.tensors.factories.memory import empty_strided as empty_strided
    from gradsmith.runtime.tensors.factories.memory import resize_as_ as resize_as_
    from gradsmith.runtime.tensors.factories.random import Generator as Generator
    from gradsmith.runtime.tensors.factories.random import bernoulli as bernoulli
    from gradsmith.runtime.tensors.factories.random import default_generator as default_generator
    from gradsmith.runtime.tensors.factories.random import get_rng_state as get_rng_state
    from gradsmith.runtime.tensors.factories.random import initial_seed as initial_seed
    from gradsmith.runtime.tensors.factories.random import manual_seed as manual_seed
    from gradsmith.runtime.tensors.factories.random import normal as normal
    from gradsmith.runtime.tensors.factories.random import rand as rand
    from gradsmith.runtime.tensors.factories.random import rand_like as rand_like
    from gradsmith.runtime.tensors.factories.random import randint as randint
    from gradsmith.runtime.tensors.factories.random import randint_like as randint_like
    from gradsmith.runtime.tensors.factories.random import randn as randn
    from gradsmith.runtime.tensors.factories.random import randn_like as randn_like
    from gradsmith.runtime.tensors.factories.random import randperm as randperm
    from gradsmith.runtime.tensors.factories.random import seed as seed
    from gradsmith.runtime.tensors.factories.random import set_rng_state as set_rng_state
    from gradsmith.runtime.tensors.queries import allclose as allclose
    from gradsmith.runtime.tensors.queries import equal as equal
    from gradsmith.runtime.tensors.queries import is_conj as is_conj
    from gradsmith.runtime.tensors.queries import is_inference as is_inference
    from gradsmith.runtime.tensors.queries import is_neg as is_neg
    from gradsmith.runtime.tensors.queries import is_nonzero as is_nonzero
    from gradsmith.runtime.tensors.queries import is_same_size as is_same_size
    from gradsmith.runtime.tensors.queries import is_signed as is_signed
    from gradsmith.runtime.tensors.queries import is_tensor as is_tensor
    from gradsmith.runtime.tensors.queries import numel as numel
    from gradsmith.runtime.tensors.queries import resolve_conj as resolve_conj
    from gradsmith.runtime.tensors.queries import resolve_neg as resolve_neg
    from gradsmith.runtime.tensors.storage import TypedStorage as TypedStorage
    from gradsmith.runtime.tensors.storage import UntypedStorage as UntypedStorage
    from gradsmith.runtime.tensors.storage import is_storage as is_storage
    from gradsmith.runtime.tensors.typed import BoolTensor as BoolTensor
    from gradsmith.runtime.tensors.typed import ByteTensor as ByteTensor
    from gradsmith.runtime.tensors.typed import CharTensor as CharTensor
    from gradsmith.runtime.tensors.typed import ComplexDoubleTensor as ComplexDoubleTensor
    from gradsmith.runtime.tensors.typed import ComplexFloatTensor as ComplexFloatTensor
    from gradsmith.runtime.tensors.typed import DoubleTensor as DoubleTensor
    from gradsmith.runtime.tensors.typed import FloatTensor as FloatTensor
    from gradsmith.runtime.tensors.typed import HalfTensor as HalfTensor
    from gradsmith.runtime.tensors.typed import IntTensor as IntTensor
    from gradsmith.runtime.tensors.typed import LongTensor as LongTensor
    from gradsmith.runtime.tensors.typed import ShortTensor as ShortTensor
    from gradsmith.runtime.tensors.typed import UInt16Tensor as UInt16Tensor
    from gradsmith.runtime.tensors.typed import UInt32Tensor as UInt32Tensor
    from gradsmith.runtime.tensors.typed import UInt64Tensor as UInt64Tensor
    from gradsmith.runtime.tensors.typed import typename as typename
    from gradsmith.segments import segment_reduce as segment_reduce
    from gradsmith.serialization.files import load as load
    from gradsmith.serialization.files import save as save
    from gradsmith.sparse import spmm as spmm

# What is beside the ops, by the module that is imported when one of it is first used.
_ELSEWHERE = {
    "gradsmith.amp.autocast_mode": (
        "autocast", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
        "is_autocast_cpu_enabled", "is_autocast_enabled",
    ),
    "gradsmith.amp.grad_scaler": ("GradScaler",),
    "gradsmith.backends.settings": (
        "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
        "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
        "set_default_tensor_type", "set_deterministic_debug_mode", "set_float32_matmul_precision",
        "set_flush_denormal", "set_num_interop_threads", "set_warn_always", "use_deterministic_algorithms",
    ),
    "gradsmith.compat.torch.symbols": (
        "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum",
    ),
    "gradsmith.compiler": ("compile",),
    "gradsmith.control_flow": ("cond", "fori_loop", "scan", "while_loop"),
    "gradsmith.cuda": ("OutOfMemoryError",),
    "gradsmith.counting": (
        "broadcast_shapes", "histogram", "histogramdd", "lu", "nonzero", "tril_indices", "triu_indices", "unique",
        "unique_consecutive", "unravel_index",
    ),
    "gradsmith.extension.loading": ("load_ops",),
    "gradsmith.func": ("grad", "value_and_grad", "vmap"),
    "gradsmith.futures": ("Future",),
    "gradsmith.jit.scripts": ("ScriptFunction", "ScriptModule"),
    "gradsmith.in_place": (
        "abs_", "acos_", "acosh_", "addmv_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_",
        "arctanh_", "as_strided_", "asin_", "asinh_", "atan_", "atanh_", "ceil_", "clamp_", "clamp_max_",
        "clamp_min_", "clip_", "conj_physical_", "cos_", "cosh_", "deg2rad_", "detach_", "erf_", "erfc_",
        "exp2_", "exp_", "expm1_", "fill_", "fix_", "floor_", "frac_", "gcd_", "i0_", "index_put_", "lcm_",
        "ldexp_", "log10_", "log1p_", "log2_", "log_", "logit_", "nan_to_num_", "neg_", "negative_", "rad2deg_",
        "reciprocal_", "round_", "rsqrt_", "sigmoid_", "sin_", "sinc_", "sinh_", "sqrt_", "square_", "tan_",
        "tanh_", "trunc_", "xlogy_",
    ),
    "gradsmith.compat.torch.layers": (
        "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "batch_norm", "convolution", "dropout", "dropout_",
        "embedding_bag", "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_",
        "frobenius_norm", "get_device", "instance_norm", "nuclear_norm", "rms_norm",
    ),
    "gradsmith.low_rank": ("pca_lowrank", "svd_lowrank"),
    "gradsmith.nn.chances": ("rrelu", "rrelu_"),
    "gradsmith.nn.grids": ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"),
    "gradsmith.nn.in_place": ("celu_", "relu_", "selu_", "threshold_"),
    "gradsmith.nn.losses.distances": ("ctc_loss",),
    "gradsmith.nn.normalizations": ("native_batch_norm",),
    "gradsmith.nn.recurrent": (
        "gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell",
    ),
    # Functions that NumPy has and PyTorch has not, or has under another name.
    "gradsmith.numpy_functions": (
        "astype", "broadcast_arrays", "compress", "copy", "copyto", "diag_indices", "diag_indices_from", "digitize",
        "extract", "fill_diagonal", "flatnonzero", "geomspace", "identity", "indices", "iscomplex", "ix_", "ndim",
        "place", "put_along_axis", "putmask", "ravel_multi_index", "shape", "size", "tri", "tril_indices_from",
        "triu_indices_from",
    ),
    "gradsmith.random.top_level": ("_sample_dirichlet", "_standard_gamma", "binomial", "poisson"),
    "gradsmith.runtime.arrays.dtypes": ("bfloat16", "chalf", "complex32", "float8_e4m3fn", "float8_e5m2"),
    "gradsmith.runtime.arrays.limits": ("finfo", "iinfo"),
    "gradsmith.runtime.arrays.memory_format": (
        "channels_last", "channels_last_3d", "contiguous_format", "layout", "memory_format", "preserve_format",
        "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided",
    ),
    "gradsmith.runtime.graph.printing": ("get_printoptions", "printoptions", "set_printoptions"),
    "gradsmith.runtime.graph.size": ("Size",),
    "gradsmith.runtime.tensors.factories.exchange": ("from_dlpack", "frombuffer", "to_dlpack"),
    "gradsmith.runtime.tensors.factories.mapped_files": ("from_file",),
    "gradsmith.runtime.tensors.factories.memory": ("empty_permuted", "empty_strided", "resize_as_"),
    "gradsmith.runtime.tensors.factories.random": (
        "Generator", "bernoulli", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "normal", "rand",
        "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state",
    ),
    "gradsmith.runtime.tensors.queries": (
        "allclose", "equal", "is_conj", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed",
        "is_tensor", "numel", "resolve_conj", "resolve_neg",
    ),
    "gradsmith.runtime.tensors.storage": ("TypedStorage", "UntypedStorage", "is_storage"),
    "gradsmith.runtime.tensors.typed": (
        "BoolTensor", "ByteTensor", "CharTensor", "ComplexDoubleTensor", "ComplexFloatTensor", "DoubleTensor",
        "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor", "UInt16Tensor", "UInt32Tensor",
        "UInt64Tensor", "typename",
    ),
    "gradsmith.runtime.engine.anomaly_mode": (
        "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled",
    ),
    "gradsmith.segments": ("segment_reduce",),
    "gradsmith.serialization.files": ("load", "save"),
    "gradsmith.signal.top_level": (
        "bartlett", "bartlett_window", "blackman", "blackman_window", "hamming", "hamming_window", "hann_window",
        "hanning", "kaiser", "kaiser_window",
    ),
    "gradsmith.sparse": ("spmm",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _ELSEWHERE.items() for name in names}

# Modules that are imported when they are first used.
_MODULES = (
    "accelerator", "amp", "array_api", "backends", "compat", "compiler", "cuda", "distributed", "distributions",
    "fft", "func", "futures", "graph", "jit", "library", "linalg", "masked", "mps", "multiprocessing", "nn", "numpy",
    "optim", "optimize", "parallel", "profiler", "quasirandom", "random", "scipy", "serialization", "signal", "sparse",
    "special", "stats", "testing", "utils", "xpu",
)  # fmt: skip

# Modules that are found under PyTorch's names too, and stand among those for its libraries.
_FOR_LIBRARIES = (
    "_C", "_VF", "__config__", "_dynamo", "_inductor", "_subclasses", "_tensor", "_utils", "_vmap_internals", "cpu",
    "functional", "fx", "hub", "onnx", "ops", "overrides", "torch_version", "types",
)  # fmt: skip

# Functions of PyTorch for its libraries that stand in a module here.
_FUNCTIONS_FOR_LIBRARIES = (
    "_assert", "_assert_async", "_has_compatible_shallow_copy_type", "_segment_reduce", "_shape_as_tensor", "range",
)  # fmt: skip

# Ops whose public names mean something else in generated code.
_RENAMED = {"complex": ("complex_numbers", "complex_of_parts"), "gradient": ("distances", "grid_gradient")}

# Classes are shown and pickled by the names that users have for them.
for _mode in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    set_public_name(_mode, f"gradsmith.{_mode.__name__}".encode())
set_public_name(_SavedTensor, b"gradsmith.autograd.SavedTensor")
set_public_name(_Node, b"gradsmith.autograd.graph.Node")
device.__module__ = __name__

_add_methods(Tensor)  # noqa: F405
_mark_absent(Tensor)  # noqa: F405
_support_overrides(Tensor)  # noqa: F405
_install_finder()

# Indexes like None: a dimension of size one.
newaxis = None

# The class of all dtypes.
dtype = _numpy.dtype

# PyTorch's second names of dtypes. Three of them hide a Python builtin in this module, so they come last.
half = float16
double = float64
cfloat = complex64
cdouble = complex128
short = int16
long = int64
float = float32
int = int32
bool = bool_

__all__ = [
    "__version__", "arange", "as_tensor", "asarray", "autograd", "bool", "bool_", "can_cast", "cdouble", "cfloat",
    "complex", "complex128", "complex64", "device", "double", "dtype", "e", "empty", "empty_cache", "empty_like",
    "enable_grad", "eye", "float", "float16", "float32", "float64", "from_numpy", "full", "full_like",
    "get_cache_limit", "get_default_device", "get_default_dtype", "get_num_threads", "gradient", "half",
    "inf", "inference_mode", "int", "int16", "int32", "int64", "int8", "is_complex", "is_floating_point",
    "is_grad_enabled", "is_inference_mode_enabled", "linspace", "logspace", "long", "nan", "newaxis", "no_grad",
    "ones", "ones_like", "pi", "promote_types", "result_type", "scalar_tensor", "set_cache_limit",
    "set_default_device", "set_default_dtype", "set_grad_enabled", "set_num_threads", "short", "tensor", "uint16",
    "uint32", "uint64", "uint8", "zeros", "zeros_like",
    *_MODULES, *_ops, *_lazy_ops, *(_name for _name in _MODULE_OF if not _name.startswith("_")),
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import rarely used modules on first use; they are slow to import."""
    if name in _MODULES:
        return importlib.import_module(f"gradsmith.{name}")
    if name in _RENAMED:
        family, op = _RENAMED[name]
        value = globals()[name] = getattr(importlib.import_module(f"gradsmith.generated.{family}"), op)
        return value
    if name in _lazy_ops:
        value = globals()[name] = getattr(generated, name)
        return value
    if name in _MODULE_OF:
        value = globals()[name] = getattr(importlib.import_module(_MODULE_OF[name]), name)
        return value
    if name == "torch":  # PyTorch imports itself
        return sys.modules["gradsmith"]
    if name in _FOR_LIBRARIES:
        value = globals()[name] = importlib.import_module(f"gradsmith.compat.torch.{name}")
        return value
    if (name.startswith("_") or name == "range") and (function := _function_for_libraries(name)):
        globals()[name] = function
        return function
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute("gradsmith", name)  # not `__name__`, which is another one within `as_torch`


def _function_for_libraries(name: str) -> Any:
    if name.startswith("_foreach_"):
        return importlib.import_module("gradsmith.compat.torch.foreach").function_named(name)
    if name in _FUNCTIONS_FOR_LIBRARIES or name.startswith(("_check", "_convert_i")):
        return getattr(importlib.import_module("gradsmith.compat.torch.functions"), name, None)
    return None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
