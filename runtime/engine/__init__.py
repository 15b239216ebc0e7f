"""One backward run, from its roots to the leaves."""
