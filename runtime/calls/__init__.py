"""What the text of an op calls: arguments, overloads, fused loops, writing in place, forward mode."""
