"""What all tests share."""

import signal

# a shell lets its background jobs ignore Ctrl-C, and they would pass that on to every test of it
signal.signal(signal.SIGINT, signal.default_int_handler)
