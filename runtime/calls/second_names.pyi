SECOND_NAMES: dict[str, tuple[str, ...]]
