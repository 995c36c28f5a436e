"""What to change: width, ensemble size, ridge, or the amount of data."""
