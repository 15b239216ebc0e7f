"""Calls that no sample makes: other sizes, layouts, arguments and numbers than those that an entry shows."""
