"""Compiled loops of formulas, as trees of C operations; knows no table."""
