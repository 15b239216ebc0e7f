"""The older name of `torch.hub`."""

from gradsmith.compat.torch.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
