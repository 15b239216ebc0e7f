"""What libraries import of ``torch.distributed`` to ask whether it is there."""
