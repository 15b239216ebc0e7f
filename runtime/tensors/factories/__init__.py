"""Functions that make tensors: of data, filled, of ranges and of random numbers."""
