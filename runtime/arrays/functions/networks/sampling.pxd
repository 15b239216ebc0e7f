cpdef object sampled_of(object a, object weights, object places)
cpdef object spread_samples_of(object a, object weights, object places, Py_ssize_t size)
cpdef object weigh_samples_of(object a, object image, object places)
