"""What programs for ``torchrun`` import of ``torch.distributed.elastic``."""
