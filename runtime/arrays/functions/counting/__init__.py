"""Equal elements and histograms: distinct values and their counts."""
