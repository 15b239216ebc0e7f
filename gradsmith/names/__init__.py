"""Names: those of PyTorch that gradsmith does not have, each with its reason, and modules that are found by several."""
