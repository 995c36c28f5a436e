"""The digits that come with scikit-learn: 1797 images of 8 x 8 pixels, with values 0 to 16.

They are ordered by writer, so they are shuffled, in an order that is always the same: that of the
first 1797 numbers of the bit generator PCG64 with seed 0. The last 500 are the test set.
"""

import numpy as np

from doubletrouble.data._images import Images
from doubletrouble.errors import require

N_TEST = 500

_SEED = 0


def digits() -> Images:
    """All images, shuffled.

    >>> found = digits()
    >>> found.train.shape, found.test.shape
    ((1297, 64), (500, 64))
    """
    stored = require("sklearn.datasets", "networks").load_digits()
    # of all of NumPy's random numbers, only those of a bit generator never change
    order = np.argsort(np.random.PCG64(_SEED).random_raw(len(stored.target)), kind="stable")
    images, classes = stored.data[order].astype(np.uint8), stored.target[order].astype(np.uint8)
    return Images(
        name="digits", source="scikit-learn",
        train=images[:-N_TEST], train_classes=classes[:-N_TEST],
        test=images[-N_TEST:], test_classes=classes[-N_TEST:],
    )  # fmt: skip
