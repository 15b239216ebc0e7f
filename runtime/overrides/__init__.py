"""Dispatch to classes and modes that override functions: the protocol ``__torch_function__``."""
