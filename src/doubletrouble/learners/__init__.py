"""Any learner of yours: its error by cause, from fits on data sets, noise and seeds of its own."""
