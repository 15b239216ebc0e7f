"""Distributions that are made of others."""
