"""Checks of entries: texts resolved for one variant, conditions, results and circles."""
