"""Names of PyTorch that gradsmith does not have, each with its reason, and the errors that say so."""
