"""Helpers of ops on sampled functions: spectra, frames, slopes and steps."""
