"""What libraries import of ``torch.nn.attention`` besides the choice of a way to compute it."""
