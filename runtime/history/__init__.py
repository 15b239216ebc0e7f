"""How a tensor gets its history: recording, views, leaves, and the buffers where gradients meet."""
