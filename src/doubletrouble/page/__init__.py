"""The live page: a static application, and a small server for simulations and advice."""

from doubletrouble.page._server import LOOPBACK, PORT, serve, write_static

__all__ = ["LOOPBACK", "PORT", "serve", "write_static"]
