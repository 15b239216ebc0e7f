"""The names of NumPy and SciPy that the table may use, and facts about ufuncs."""
