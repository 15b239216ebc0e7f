"""The history of a tensor: recording, views, leaves, and the buffers where gradients meet."""
