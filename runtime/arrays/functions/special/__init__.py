"""Special functions, from SciPy's loops and from formulas of our own."""
