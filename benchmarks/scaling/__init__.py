"""What data-parallel training takes on more ranks than there are here: a model, fitted to what is measured.

`model.py` has the formulas, `measure.py` the times that they are fitted to, `tables.py` what is written about them.
docs/performance/scaling.md explains the model.
"""
