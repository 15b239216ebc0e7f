"""From derivatives.yaml to Cython text. Pure Python; imports nothing of what it generates."""
