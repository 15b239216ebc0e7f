"""What recording, graphs, memory, importing and editing cost."""
