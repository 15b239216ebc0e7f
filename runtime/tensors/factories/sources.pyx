"""Where random numbers come from: the generator that an op was given, that of the thread, or the default one."""

import threading

from gradsmith.runtime.batching.batch cimport living


class OfThread(threading.local):
    generator = None            # in place of the default one


of_thread = OfThread()

cdef object default_generator = None
cdef object thread_data = of_thread


def put_default(generator):
    """The generator of all threads without one of their own; called once, when it is made."""
    global default_generator
    default_generator = generator


cdef bint is_source(object generator) noexcept:
    return generator is None or type(generator) is type(default_generator)


def generator_behind(generator):
    """The generator that an op was given, or the default one."""
    return behind(generator)


def numpy_generator(generator):
    """The source of the numbers, by default that of the default generator."""
    return source_of(generator)


cdef inline object behind(object generator):
    if generator is not None:
        return generator
    generator = thread_data.generator
    return default_generator if generator is None else generator


cdef object source_of(object generator):
    generator = behind(generator)
    if living == 0 and generator._numpy is not None:
        return generator._numpy
    return generator.numpy      # made on first use, and refused in a trace
