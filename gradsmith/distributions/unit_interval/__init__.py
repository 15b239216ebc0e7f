"""Distributions of numbers from 0 to 1."""
