"""Recurrent networks over sequences, and their cells, which make one step."""

from gradsmith.nn.modules.rnn.base import RNNBase
from gradsmith.nn.modules.rnn.cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from gradsmith.nn.modules.rnn.layers import GRU, LSTM, RNN

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]
