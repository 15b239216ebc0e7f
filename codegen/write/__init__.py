"""From views to text on disk; the templates are beside it, in ``codegen/templates``."""
