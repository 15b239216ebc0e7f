"""Formulas as trees, in memory: found, evaluated and written out."""
