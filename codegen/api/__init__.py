"""What Python sees of an op: functions, methods, operators, their parameters and their documentation."""
