"""The handwritten half: tensors, the graph, the engine, and the kernels under them.

Nothing here imports ``gradsmith.generated``.  What the user sees is gathered in
``gradsmith/__init__.py``.
"""
