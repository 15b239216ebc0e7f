"""Exact symbolic mathematics. Knows no table."""
