"""Measurements, printed as ratios against something timed in the same run: make bench."""
