"""Random features with any convex loss: order parameters, overlaps and separability."""
