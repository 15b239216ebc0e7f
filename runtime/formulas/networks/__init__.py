"""Helpers of the functions of networks."""
