"""Finite-size simulation of random-features ridge regression, with standard errors."""
