"""Called by generated ops: arguments, overloads, fused loops, writing in place, forward mode."""
