"""Distributions of positive numbers, and of those above a threshold."""
