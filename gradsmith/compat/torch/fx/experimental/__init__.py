"""What libraries ask of PyTorch's tracer of ops."""
