"""Random-features learners with the interface of scikit-learn. Needs scikit-learn."""
