"""Functions that ran once under a trace, as lists of steps that run without Python."""
