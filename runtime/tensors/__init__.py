"""What Python holds: the class of tensors, what makes them, and the entry points of backward."""
