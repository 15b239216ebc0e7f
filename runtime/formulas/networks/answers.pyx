"""Answers that follow from sizes alone, kept for the next call with the same ones: a network asks the same few again."""

cdef enum:
    MOST_KEPT = 256


cdef class Answers:
    """Of one function; questions are the arguments."""

    def __cinit__(self):
        self.known = {}

    cdef object find(self, tuple question):
        """None where the question is new, or has a list in it."""
        try:
            return self.known.get(question)
        except TypeError:
            return None

    cdef object keep(self, tuple question, object answer):
        """The answer itself."""
        if len(self.known) >= MOST_KEPT:
            self.known.clear()
        try:
            self.known[question] = answer
        except TypeError:
            pass
        return answer


cdef bint is_plain(object setting):
    """Is it what only equals its like? 1.0 and True equal 1, and are something else as a setting."""
    if type(setting) is tuple:
        for item in <tuple>setting:
            if type(item) is not int and item is not None:
                return False
        return True
    return type(setting) is int or type(setting) is str or setting is None
