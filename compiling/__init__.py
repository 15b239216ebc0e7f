"""From Cython text to extension modules. Imports nothing of the rest, since it is what builds the rest."""
