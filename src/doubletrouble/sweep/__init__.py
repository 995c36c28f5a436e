"""Grids of computations, each cell stored as it finishes; `dt.Sweep` is the one of simulations."""
