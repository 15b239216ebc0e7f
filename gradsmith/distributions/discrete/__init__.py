"""Distributions of counts, classes and one-hot vectors."""
