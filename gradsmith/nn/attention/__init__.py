"""Attention: scaled products of queries and keys, and several heads of it with their projections."""
