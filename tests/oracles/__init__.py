"""Other routes to what the package computes, which share no formula with it."""
