"""Losses whose arguments are not those of one op."""
