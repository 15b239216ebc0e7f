"""The reports of a run: printed lines, the places of entries in the table, the figures and the support matrix."""
