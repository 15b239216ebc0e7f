"""Attributes of PyTorch's tensors that ours have not. Made by docs/update.py."""

NAMES = (
    "bfloat16", "ccol_indices", "chalf", "col_indices", "const_data_ptr", "crow_indices", "dense_dim",
    "dequantize", "dim_order", "eig", "hash_tensor", "int_repr", "ipu", "is_distributed", "lstsq", "module_load",
    "mtia", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points", "q_scale", "q_zero_point",
    "qscheme", "record_stream", "reinforce", "resize", "resize_as", "resize_as_sparse_", "row_indices",
    "slice_inverse", "smm", "solve", "sparse_dim", "sparse_mask", "sparse_resize_", "sparse_resize_and_clear_",
    "sspaddmm", "storage_type", "symeig", "to_mkldnn", "to_padded_tensor", "to_sparse", "to_sparse_bsc",
    "to_sparse_bsr", "to_sparse_coo", "to_sparse_csc", "to_sparse_csr", "volatile",
)  # fmt: skip
