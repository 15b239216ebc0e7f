"""The language of the table: vocabulary, schemas, and error messages with their place."""
