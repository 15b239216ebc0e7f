"""Values to compare an op with: the entry's reference or the usual one, evaluated in NumPy or SciPy."""
