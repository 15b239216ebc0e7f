"""Steps of training, and what belongs to them."""
