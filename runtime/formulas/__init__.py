"""Helpers that formulas of the table call, written with ops."""
