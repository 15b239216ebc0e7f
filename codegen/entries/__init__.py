"""From YAML to entries whose schemas are understood and whose formulas are still texts."""
