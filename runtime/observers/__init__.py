"""Observers of ops and nodes: the recorder of a profile, the cache of a selective checkpoint."""
