"""Loops that a trace holds as one step. See loop.py, Note [Loops traced once]."""
