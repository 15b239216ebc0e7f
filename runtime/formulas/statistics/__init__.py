"""Helpers of ops on groups, on rows of observations, and on elements that may be missing."""
