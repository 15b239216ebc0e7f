"""What is written of a run: JSON with every sample, tables in Markdown, plots against sizes."""
