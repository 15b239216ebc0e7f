"""The choice of values that a node keeps for backward, their cost, and the reason."""
