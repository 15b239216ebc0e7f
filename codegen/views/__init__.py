"""From the table to the flat values that templates write, with no decisions left."""
