"""State of a thread, switches, and the one registry of calls upward."""
