"""What may be written in the table: words, schemas, and the errors that say where one is wrong."""
