"""Which values a node keeps for backward, what they cost, and why."""
