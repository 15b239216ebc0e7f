"""From entries to the frozen table: formulas resolved, derived and compared, and what each node saves."""
