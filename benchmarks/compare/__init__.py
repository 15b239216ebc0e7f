"""Two commits of gradsmith side by side: each is built in its own tree, and runs in long-lived processes in turn."""
