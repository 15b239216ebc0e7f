"""Corrections to the C that Cython writes.

Cython 3.3 drops the item of a list comprehension twice when there is no memory for a longer list: where it fails to
append the item, and again on the way out. A Cython that knows better has another text, which is left as it is.
"""

from __future__ import annotations

_DROPPED_ALWAYS = """\
int result = PyList_Append(list, x);
    Py_DECREF(x);
    return result;
"""
MENDED = """\
int result = PyList_Append(list, x);
    if (result == 0) Py_DECREF(x);
    return result;
"""


def mended(text: str) -> str:
    """The same C, right also when there is no memory."""
    return text.replace(_DROPPED_ALWAYS, MENDED)
