"""What libraries import of ``torch.utils`` besides its tools."""
