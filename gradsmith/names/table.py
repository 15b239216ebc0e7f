"""PyTorch's names that are not here: module -> reason -> names. Made by docs/update.py."""

# fmt: off
MISSING = {
    "gradsmith.numpy": {
        "Modules and classes of text, records and Python objects; tensors hold numbers": (
            "char frompyfunc ma rec recarray record strings"
        ),
        "Its products are not those of arrays: `@` and `array`": (
            "asmatrix matrix"
        ),
        "Classes that hold polynomials or iterate over arrays; `polyval` and its like, and "
        "`x.numpy()`": (
            "flatiter memmap nditer nested_iters polynomial"
        ),
        "Machinery of NumPy, its tests, and a name that it advises against": (
            "core ctypeslib f2py lib row_stack test fft.test linalg.test random.bit_generator "
            "random.mtrand random.test"
        ),
    },
    "numpy": {
        "Dates, text, files and settings of NumPy; arrays and tensors convert into each other": (
            "array array2string array_equal array_equiv array_repr array_str asanyarray "
            "asarray_chkfinite ascontiguousarray asfortranarray asmatrix base_repr binary_repr bmat "
            "busday_count busday_offset common_type datetime_as_string datetime_data "
            "format_float_positional format_float_scientific fromfile fromfunction fromiter "
            "frompyfunc fromregex fromstring genfromtxt get_include getbufsize geterr geterrcall info"
            " is_busday iscomplexobj isdtype isfortran isnat isrealobj isscalar issubdtype iterable "
            "loadtxt may_share_memory min_scalar_type mintypecode nested_iters require savetxt savez "
            "savez_compressed setbufsize seterr seterrcall shares_memory show_config show_runtime "
            "test"
        ),
        "Another name here, PyTorch's: `cat`, `unbind`, `movedim`, `repeat_interleave`, `abs`, "
        "`select`, `linalg.cross`": (
            "append fabs mask_indices real_if_close repeat resize rollaxis unique_all unique_counts "
            "unique_inverse unique_values unstack linalg.matrix_transpose linalg.outer "
            "linalg.tensordot linalg.trace"
        ),
        "`gs.vmap` maps functions over dimensions, and Python's `if` and `gs.where` choose": (
            "apply_along_axis apply_over_axes piecewise"
        ),
        "Not differentiable, and rarely part of a differentiated program; `x.numpy()` has them": (
            "argpartition bitwise_count block delete einsum_path histogram2d histogram_bin_edges "
            "insert intersect1d lexsort nanargmax nanargmin packbits partition setdiff1d setxor1d "
            "sort_complex spacing trim_zeros union1d unpackbits"
        ),
        "NumPy itself advises against the old functions of polynomials": (
            "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots"
        ),
    },
    "torch": {
        "There is one device, the CPU, and tensors are NumPy arrays": (
            "AcceleratorError BFloat16Storage BoolStorage ByteStorage CharStorage "
            "ComplexDoubleStorage ComplexFloatStorage DoubleStorage Event FloatStorage HalfStorage "
            "IntStorage LongStorage QInt32Storage QInt8Storage QUInt2x4Storage QUInt4x2Storage "
            "QUInt8Storage ShortStorage Storage Stream Tensor.const_data_ptr Tensor.ipu Tensor.mtia "
            "Tensor.record_stream Tensor.storage_type Tensor.to_mkldnn get_device_module has_lapack "
            "has_mkl has_openmp has_spectral is_vulkan_available monitor mtia"
        ),
        "NumPy has no such dtype: `gs.float32` is the type of parameters, `gs.float16` takes half the"
        " memory": (
            "BFloat16Tensor Tensor.bfloat16 Tensor.chalf bit bits16 bits1x8 bits2x4 bits4x2 bits8 "
            "float4_e2m1fn_x2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu int1 int2 int3 int4 int5"
            " int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7"
        ),
        "Functions run as Python and are not rewritten; `gs.func` transforms them by running them": (
            "CompilationUnit JITException Tag export package"
        ),
        "An operator of one's own is an `autograd.Function`, or an entry of a table: `gs.load_ops`": (
            "classes"
        ),
        "Results that have names are named tuples of their functions, and the data of a tensor is a "
        "NumPy array": (
            "return_types storage"
        ),
        "Sparse, nested and masked tensor classes are not part of the project; `scipy.sparse` "
        "matrices and indexed gradients are": (
            "Tensor.ccol_indices Tensor.col_indices Tensor.crow_indices Tensor.dense_dim "
            "Tensor.resize_as_sparse_ Tensor.row_indices Tensor.smm Tensor.sparse_dim "
            "Tensor.sparse_mask Tensor.sparse_resize_ Tensor.sparse_resize_and_clear_ Tensor.sspaddmm"
            " Tensor.to_padded_tensor Tensor.to_sparse Tensor.to_sparse_bsc Tensor.to_sparse_bsr "
            "Tensor.to_sparse_coo Tensor.to_sparse_csc Tensor.to_sparse_csr ccol_indices_copy "
            "col_indices_copy crow_indices_copy dsmm hsmm hspmm indices_copy jagged nested "
            "resize_as_sparse_ row_indices_copy saddmm smm sparse_bsc_tensor sparse_bsr_tensor "
            "sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor sspaddmm "
            "values_copy"
        ),
        "Quantisation is not part of the project": (
            "Tensor.dequantize Tensor.int_repr Tensor.q_per_channel_axis Tensor.q_per_channel_scales "
            "Tensor.q_per_channel_zero_points Tensor.q_scale Tensor.q_zero_point Tensor.qscheme ao "
            "choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine "
            "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant int_repr "
            "per_channel_affine per_channel_affine_float_qparams per_channel_symmetric "
            "per_tensor_affine per_tensor_symmetric q_per_channel_axis q_per_channel_scales "
            "q_per_channel_zero_points q_scale q_zero_point qint32 qint8 quantization "
            "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic "
            "quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell"
            " quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell "
            "quantized_rnn_tanh_cell quint2x4 quint4x2 quint8"
        ),
        "Ops are cast nowhere, so there is no state of `gs.autocast`": (
            "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
            "get_autocast_ipu_dtype get_autocast_xla_dtype is_autocast_cache_enabled "
            "is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_cache_enabled "
            "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled "
            "set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled "
            "set_autocast_xla_dtype set_autocast_xla_enabled"
        ),
        "An internal function of PyTorch's layers": (
            "batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt "
            "batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats "
            "batch_norm_update_stats cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution "
            "cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose "
            "cudnn_grid_sampler cudnn_is_acceptable embedding_renorm_ fbgemm_linear_fp16_weight "
            "fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight "
            "fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight "
            "fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix is_distributed "
            "legacy_contiguous_format miopen_batch_norm miopen_convolution "
            "miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose "
            "miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d "
            "mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d "
            "mkldnn_rnn_layer native_dropout native_norm norm_except_dim"
        ),
        "Machinery of PyTorch's own compiler, scripts and symbolic shapes": (
            "Tensor.dim_order Tensor.hash_tensor Tensor.module_load Tensor.slice_inverse "
            "compiled_with_cxx11_abi fork hash_tensor import_ir_module import_ir_module_from_buffer "
            "init_num_threads merge_type_from_type_comment parse_ir parse_schema parse_type_comment "
            "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 slice_inverse sym_constrain_range "
            "sym_constrain_range_for_size sym_fresh_size sym_sqrt thread_safe_generator "
            "unify_type_list wait"
        ),
        "Deprecated there, or raises an error that names its successor": (
            "Tensor.eig Tensor.is_distributed Tensor.lstsq Tensor.reinforce Tensor.resize "
            "Tensor.resize_as Tensor.solve Tensor.symeig Tensor.volatile eig lstsq matrix_rank solve "
            "symeig"
        ),
        "`gs.linalg.eigh` has all eigenvalues and their gradients, and `scipy.sparse.linalg.lobpcg` "
        "some of a sparse matrix": (
            "lobpcg"
        ),
    },
    "torch.accelerator": {
        "There is no accelerator; ask `accelerator.is_available()` first": (
            "Graph current_device_idx device_index empty_host_cache get_device_capability "
            "get_memory_info max_memory_allocated max_memory_reserved memory_allocated "
            "memory_reserved memory_stats reset_accumulated_memory_stats reset_peak_memory_stats "
            "set_device_idx set_stream"
        ),
    },
    "torch.autograd": {
        "Deprecated there; `autograd.Function` takes tensors and returns tensors": (
            "NestedIOFunction"
        ),
    },
    "torch.autograd.graph": {
        "For streams and compiled regions of other devices": (
            "region_activation_memory_budget set_override_stale_capture_stream "
            "set_warn_on_accumulate_grad_stream_mismatch"
        ),
    },
    "torch.backends": {
        "The library is not used": (
            "cpu cusparselt kleidiai mha miopen nnpack python_native quantized"
        ),
    },
    "torch.compiler": {
        "There is one way to trace and to run a program, so nothing of a compiler can be set": (
            "config get_default_backend keep_portable_guards_unsafe keep_tensor_guards_unsafe "
            "load_cache_artifacts load_compiled_function nested_compile_region save_cache_artifacts "
            "set_default_backend set_enable_guard_collectives set_stance skip_all_guards_unsafe "
            "skip_guard_on_all_nn_modules_unsafe skip_guard_on_globals_unsafe "
            "skip_guard_on_inbuilt_nn_modules_unsafe substitute_in_graph wrap_numpy"
        ),
    },
    "torch.cuda": {
        "There is one device, the CPU; ask `cuda.is_available()` first": (
            "BFloat16Storage BFloat16Tensor BoolStorage ByteStorage CUDAPluggableAllocator "
            "CharStorage ComplexDoubleStorage ComplexFloatStorage CudaError DeferredCudaCallError "
            "DoubleStorage ExternalStream FloatStorage GreenContext HalfStorage IntStorage "
            "LongStorage MemPool ShortStorage caching_allocator_alloc caching_allocator_delete "
            "caching_allocator_disabled caching_allocator_enable can_device_access_peer "
            "change_current_allocator check_error clock_rate cudaStatus cudart current_blas_handle "
            "current_solver_handle device_memory_used get_allocator_backend get_gencode_flags "
            "get_per_process_memory_fraction get_stream_from_external get_sync_debug_mode "
            "graph_pool_handle graphs has_half has_magma host_memory_stats "
            "host_memory_stats_as_nested_dict jiterator list_gpu_processes make_graphed_callables "
            "max_memory_cached memory memory_cached memory_snapshot memory_stats_as_nested_dict "
            "memory_usage nccl power_draw profiler reset_accumulated_host_memory_stats "
            "reset_max_memory_cached reset_peak_host_memory_stats set_per_process_memory_fraction "
            "set_stream set_sync_debug_mode sparse streams temperature tunable use_mem_pool "
            "utilization"
        ),
    },
    "torch.cuda.amp": {
        "For PyTorch's own use": (
            "amp_definitely_not_available"
        ),
    },
    "torch.distributed": {
        "MPI joins the ranks: `mpiexec -n 4 python program.py`, and `init_process_group()`": (
            "DistNetworkError DistStoreError FileStore HashStore PrefixStore QueueEmptyError Store "
            "TCPStore get_backend_config launch register_rendezvous_handler rendezvous run"
        ),
        "Ranks stand in a row: `new_group` chooses some of them, and the layers of "
        "`distributed.parallel` share work": (
            "DeviceMesh device_mesh fsdp init_device_mesh pipelining shrink_group split_group tensor"
        ),
        "Deprecated there; one call for each tensor, or one tensor of all": (
            "all_gather_coalesced all_reduce_coalesced"
        ),
        "For debugging PyTorch's own backends": (
            "DebugLevel breakpoint get_debug_level set_debug_level set_debug_level_from_env "
            "supports_complex"
        ),
    },
    "torch.distributed.checkpoint": {
        "`save` and `load` take a dict of tensors and shards; how they stand in files is not open": (
            "BytesStorageMetadata CheckpointException ChunkStorageMetadata DefaultLoadPlanner "
            "DefaultSavePlanner FileSystemReader FileSystemWriter HuggingFaceStorageReader "
            "HuggingFaceStorageWriter LoadPlan LoadPlanner Metadata QuantizedHuggingFaceStorageReader"
            " ReadItem SavePlan SavePlanner StorageReader StorageWriter TensorStorageMetadata "
            "WriteItem async_save load_sharded_optimizer_state_dict load_state_dict save_state_dict"
        ),
    },
    "torch.distributed.optim": {
        "Averages of parameters are those of `optim.swa_utils`; updates are made by the optimizers' "
        "own step": (
            "PostLocalSGDOptimizer as_functional_optim"
        ),
    },
    "torch.func": {
        "Reshape and permute say the same; `einsum` does both": (
            "rearrange"
        ),
    },
    "torch.fx": {
        "Functions run as Python and are not rewritten; `gs.compile` traces them, and `gs.func` "
        "transforms them by running them": (
            "has_side_effect map_arg replace_pattern symbolic_trace"
        ),
    },
    "torch.jit": {
        "Scripts run as Python; `gs.compile` makes programs": (
            "CompilationUnit export_opnames interface"
        ),
    },
    "torch.library": {
        "An operator is made by `custom_op`, or is an entry of a table: `gs.load_ops`": (
            "define get_kernel impl impl_abstract"
        ),
        "There are no passes over operators but those of `gs.compile`, and one device": (
            "fallthrough_kernel get_ctx register_autocast register_torch_dispatch triton_op "
            "wrap_triton"
        ),
    },
    "torch.masked": {
        "Tensors that carry a mask are not part of the project; the functions take one, "
        "`masked.sum(x, mask=mask)`": (
            "MaskedTensor as_masked_tensor is_masked_tensor masked_tensor"
        ),
    },
    "torch.mps": {
        "There is one device, the CPU; ask `mps.is_available()` first": (
            "Event compile_shader current_allocated_memory driver_allocated_memory get_rng_state "
            "load_metallib profiler recommended_max_memory set_per_process_memory_fraction "
            "set_rng_state"
        ),
    },
    "torch.nn": {
        "There is one device, the CPU, and one process": (
            "Module.ipu Module.mtia Module.xpu"
        ),
        "NumPy has no such dtype: `gs.float32` is the type of parameters, `gs.float16` takes half the"
        " memory": (
            "Module.bfloat16"
        ),
        "Machinery of PyTorch's own compiler and types": (
            "Module.T_destination"
        ),
        "Deprecated there, and its result is not that of its formula; `LocalResponseNorm`": (
            "CrossMapLRN2d"
        ),
        "A layer and a loss in one, to save memory on other devices; `Linear` and `CrossEntropyLoss`": (
            "LinearCrossEntropyLoss LinearCrossEntropyOptions"
        ),
    },
    "torch.nn.attention": {
        "Attention is computed one way": (
            "activate_flash_attention_impl current_flash_attention_impl list_flash_attention_impls "
            "register_flash_attention_impl restore_flash_attention_impl"
        ),
    },
    "torch.nn.functional": {
        "For layers of low precision on other devices": (
            "grouped_mm scaled_grouped_mm scaled_mm"
        ),
    },
    "torch.nn.parallel": {
        "There is one device, the CPU; `DistributedDataParallel` is for several processes": (
            "parallel_apply replicate"
        ),
    },
    "torch.nn.utils": {
        "There is one order of a convolution's memory": (
            "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format"
        ),
    },
    "torch.onnx": {
        "Programs are written as C by `gs.graph.export_c`, and to files by `gs.graph.save`": (
            "ExportableModule InputObserver ONNXProgram OnnxExporterError errors export ops"
        ),
    },
    "torch.optim": {
        "An internal function of PyTorch's optimizers": (
            "swap_in_optimizer_params_and_state"
        ),
    },
    "torch.overrides": {
        "PyTorch's dispatcher below its functions; here nothing is below them": (
            "enable_reentrant_dispatch redispatch_function"
        ),
    },
    "torch.profiler": {
        "For PyTorch's own tracer, and for other devices": (
            "DeviceType ExecutionTraceObserver"
        ),
    },
    "torch.random": {
        "For PyTorch's own pipelines": (
            "thread_safe_generator"
        ),
    },
    "torch.sparse": {
        "Matrices are those of `scipy.sparse`; `sparse.matmul` and `sparse.spsolve` differentiate "
        "with them": (
            "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
            "SparseSemiStructuredTensorCUTLASS addmm as_sparse_gradcheck "
            "check_sparse_tensor_invariants log_softmax softmax solve sum to_sparse_semi_structured"
        ),
    },
    "torch.testing": {
        "Deprecated there, or for tests of PyTorch's own compiler; `testing.assert_close`": (
            "FileCheck"
        ),
    },
    "torch.utils": {
        "A package of its own writes such files: `tensorboardX`": (
            "tensorboard"
        ),
        "`gs.load_ops` and `python -m gradsmith.extension` compile ops of one's own": (
            "cpp_extension"
        ),
        "Files of weights and code for PyTorch's own programs": (
            "mobile_optimizer"
        ),
        "`gs.profiler` measures programs": (
            "ThroughputBenchmark bottleneck"
        ),
        "For extensions of PyTorch, and tools around its source": (
            "cmake_prefix_path collect_env cpp_backtrace deterministic "
            "generate_methods_for_privateuse1_backend get_cpp_backtrace rename_privateuse1_backend "
            "set_module swap_tensors"
        ),
    },
    "torch.utils.checkpoint": {
        "An internal class or function of PyTorch's checkpoints": (
            "CheckpointFunction DefaultDeviceType GraphExecGroup SAC_IGNORED_OPS "
            "check_backward_validity detach_variable"
        ),
    },
    "torch.utils.data": {
        "Pipes of data are deprecated there; `Dataset` and `IterableDataset`": (
            "DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation "
            "functional_datapipe guaranteed_datapipes_determinism non_deterministic "
            "runtime_validation runtime_validation_disabled"
        ),
    },
    "torch.utils.dlpack": {
        "There is one device, the CPU": (
            "DLDeviceType"
        ),
    },
    "torch.utils.hooks": {
        "An internal class or function of PyTorch's hooks; `RemovableHandle` is what registering a "
        "hook gives": (
            "BackwardHook unserializable_hook warn_if_has_hooks"
        ),
    },
    "torch.xpu": {
        "There is one device, the CPU; ask `xpu.is_available()` first": (
            "Event MemPool Stream StreamContext XPUGraph XPUPluggableAllocator can_device_access_peer"
            " change_current_allocator clock_rate current_device current_stream default_generators "
            "device device_memory_used device_of get_arch_list get_device_capability get_device_name "
            "get_device_properties get_gencode_flags get_per_process_memory_fraction get_rng_state "
            "get_rng_state_all get_stream_from_external graph graph_pool_handle init initial_seed "
            "is_bf16_supported is_current_stream_capturing is_initialized is_tf32_supported "
            "make_graphed_callables max_memory_allocated max_memory_reserved mem_get_info "
            "memory_allocated memory_reserved memory_snapshot memory_stats "
            "memory_stats_as_nested_dict memory_usage power_draw reset_accumulated_memory_stats "
            "reset_peak_memory_stats seed_all set_device set_per_process_memory_fraction "
            "set_rng_state set_rng_state_all set_stream stream streams temperature use_mem_pool "
            "utilization"
        ),
    },
}
