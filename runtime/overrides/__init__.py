"""Calls that the classes of their arguments take over: the protocol ``__torch_function__``."""
