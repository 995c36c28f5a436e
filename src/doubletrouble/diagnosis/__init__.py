"""The error of a learner at the size of the data, by cause, and what remedies would bring."""
