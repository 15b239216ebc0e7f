"""Elements under a mask, moved without a branch for each."""
