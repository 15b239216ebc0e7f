"""What tensors have for NumPy and its users, beside PyTorch's names."""
