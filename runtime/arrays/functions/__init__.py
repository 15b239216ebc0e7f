"""Forward kernels that an entry of derivatives.yaml may name: ndarrays in, ndarrays out."""
