"""Where the error of any learner comes from, told from its predictions alone."""
