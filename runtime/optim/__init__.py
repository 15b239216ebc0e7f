"""Steps of optimizers: one call updates all parameters, in place, without temporaries."""
