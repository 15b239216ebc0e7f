"""How often elements are found: in bins, side by side, and which of them most."""
