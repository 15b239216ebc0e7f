cpdef object bernoulli_number_of(object self, double p, object generator)
cpdef object kept_part_of(object self, object mask, double scale, double above, double below)
