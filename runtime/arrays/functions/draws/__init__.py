"""Array functions of random numbers: bits and what is made of them, and the gradients of what was drawn."""
