"""Exact theory of random-features ridge regression in the limit N, P, D → ∞."""
