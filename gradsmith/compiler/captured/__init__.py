"""What a function comes to besides its arguments: variables, attributes and items, of whatever its code names."""
