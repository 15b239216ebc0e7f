"""What single ops cost, forward and back."""
