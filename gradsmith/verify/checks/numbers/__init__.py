"""Numbers at which derivatives go wrong: points of the author, zeros and infinities, and what rounding loses."""
