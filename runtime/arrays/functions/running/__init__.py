"""Array functions that go along a dimension, each element after the one before: sums, products, recurrences."""
