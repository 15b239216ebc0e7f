"""Mutation: formulas made wrong on purpose, each of which the samples of its entry have to notice."""
