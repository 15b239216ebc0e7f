"""Distances between rows."""
