"""Functions that users write with a derivative of their own."""
