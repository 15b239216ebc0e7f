"""How rows are measured: agreement first, then interleaved rounds on idle cores."""
