"""What libraries import of ``torch.nn.utils`` besides its tools."""
