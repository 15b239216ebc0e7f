cpdef object sampled_of(object a, object weight, object places)
cpdef object spread_samples_of(object a, object weight, object places, Py_ssize_t size)
cpdef object weigh_samples_of(object a, object image, object places)
