"""What texts of the table may say in NumPy and SciPy: listed names, and facts about ufuncs."""
