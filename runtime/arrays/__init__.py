"""Arrays, their memory, dtypes and devices. Knows no tensor."""
