"""Rows in order, and what lies at which share of them."""
