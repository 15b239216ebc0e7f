"""Coverage: what the checks of an entry never looked at, and which sample would make them look."""
