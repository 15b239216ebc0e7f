"""What goes around layers of networks: `rnn` has sequences of several lengths."""

from gradsmith.nn.utils import rnn

__all__ = ["rnn"]
