"""Values outside of a function's arguments: the variables, attributes and items that its code names."""
