"""Points of images."""
