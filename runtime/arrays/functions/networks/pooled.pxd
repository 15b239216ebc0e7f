cimport numpy as cnp


cpdef tuple window_maxima_of(cnp.ndarray a, object spans, object dilation)
cpdef object window_means_of(cnp.ndarray a, object spans, object divisors)
cpdef object spread_means_of(cnp.ndarray a, object spans, object divisors, object size)
cpdef object at_places_of(object a, object places)
cpdef object to_places_of(object a, object places, object size)
