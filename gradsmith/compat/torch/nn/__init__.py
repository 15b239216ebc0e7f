"""What libraries import of ``torch.nn`` besides layers and functions."""
