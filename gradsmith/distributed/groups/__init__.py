"""Groups of ranks: what they send each other, how they wait, and how they notice that one is missing."""
