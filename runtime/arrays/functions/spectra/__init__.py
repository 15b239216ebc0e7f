"""Array functions of Fourier, cosine and sine transforms, and of convolutions."""
