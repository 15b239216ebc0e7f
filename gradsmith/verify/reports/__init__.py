"""What a run says: printed lines, the places of entries in the table, the figures and the support matrix."""
