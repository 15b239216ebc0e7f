"""What is found in rows most often."""
