"""Answers that follow from sizes alone, kept for the next call with the same ones: a network asks the same few again."""

cdef enum:
    MOST_KEPT = 256


cdef class Answers:
    """The answers of one function; a question is the tuple of its arguments.

    Parameters
    ----------
    compute : callable
    may_be_kept : callable, optional
        Is an answer small enough? By default all are.
    """

    def __init__(self, compute, may_be_kept=None):
        self.compute, self.may_be_kept = compute, may_be_kept
        self.known = {}

    cdef object to(self, tuple question):
        try:
            found = self.known.get(question)
        except TypeError:       # there is a list in it, which cannot be looked up
            return self.compute(*question)
        if found is None:
            found = self.compute(*question)
            if len(self.known) >= MOST_KEPT:
                self.known.clear()
            if self.may_be_kept is None or self.may_be_kept(found):
                self.known[question] = found
        return found


cdef bint is_plain(object setting):
    """Is it what only equals its like? 1.0 and True equal 1, and are something else as a setting."""
    if type(setting) is tuple:
        for item in <tuple>setting:
            if type(item) is not int and item is not None:
                return False
        return True
    return type(setting) is int or type(setting) is str or setting is None
