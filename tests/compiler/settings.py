"""What functions of test_reached.py find in another module."""

scale = 2.0


class Inner:
    shift = 3.0


inner = Inner()
options = {"power": 2.0}


def scaled(x):  # type: ignore[no-untyped-def]
    return x * scale
