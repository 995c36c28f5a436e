"""Ensembles of lazy neural networks, trained as one program. Needs torch."""
