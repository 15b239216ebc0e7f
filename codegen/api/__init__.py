"""The Python API of an op: functions, methods, operators, parameters and documentation."""
