"""Array functions of networks: rows of tables, convolutions, pooling."""
