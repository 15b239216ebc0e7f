"""Objectives and derivatives of scientific programs."""
