"""What an entry may say: its texts resolved for one variant, and its conditions and results checked."""
