"""Settings of all tests: Ctrl-C, and Hypothesis without deadlines."""

import signal

from hypothesis import settings

# background jobs of a shell ignore SIGINT, and child processes of the tests would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
