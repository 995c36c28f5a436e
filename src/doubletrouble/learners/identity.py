"""What a learner and a source are, as a name a store can keep: equal names mean equal fits.

Data and parameters go by their content, functions by their code and what it refers to. What cannot
be told by content (an open file, a network connection) must be named by the user.
"""

import pickle
from hashlib import sha256
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np


def identity(thing: Any) -> str:
    """A hash of the content of something.

    >>> identity(lambda x: x + 1) == identity(lambda x: x + 2)
    False
    """
    digest = sha256()
    _feed(digest, thing, set())
    return digest.hexdigest()


def _feed(digest: Any, thing: Any, seen: set[int]) -> None:
    digest.update(type(thing).__qualname__.encode() + b":")
    if isinstance(thing, np.ndarray):
        digest.update(f"{thing.dtype}{thing.shape}".encode())
        if thing.dtype.kind != "O":
            digest.update(np.ascontiguousarray(thing).tobytes())
            return
        thing = thing.tolist()
    if isinstance(thing, FunctionType):
        _feed_function(digest, thing, seen)
    elif isinstance(thing, ModuleType | BuiltinFunctionType | type):
        digest.update(f"{getattr(thing, '__module__', '')}.{thing.__name__}".encode())
    elif isinstance(thing, dict):
        for key in sorted(thing, key=repr):
            _feed(digest, key, seen)
            _feed(digest, thing[key], seen)
    elif isinstance(thing, list | tuple):
        for item in thing:
            _feed(digest, item, seen)
    elif isinstance(thing, set | frozenset):
        digest.update(repr(sorted(map(repr, thing))).encode())
    elif hasattr(thing, "get_params"):  # an estimator: its parameters are all there is
        digest.update(f"{type(thing).__module__}".encode())
        _feed(digest, thing.get_params(deep=False), seen)
    elif thing is None or isinstance(thing, bool | int | float | complex | str | bytes):
        digest.update(repr(thing).encode())
    elif id(thing) not in seen:
        seen.add(id(thing))
        _feed_object(digest, thing, seen)


def _feed_function(digest: Any, function: FunctionType, seen: set[int]) -> None:
    if id(function) in seen:  # it calls itself
        return
    seen.add(id(function))
    _feed_code(digest, function.__code__)
    _feed(digest, function.__defaults__, seen)
    _feed(digest, function.__kwdefaults__, seen)
    for cell in function.__closure__ or ():
        _feed(digest, cell.cell_contents, seen)
    for name in function.__code__.co_names:
        if name in function.__globals__:
            _feed(digest, function.__globals__[name], seen)


def _feed_code(digest: Any, code: Any) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names + code.co_varnames).encode())
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            _feed_code(digest, constant)
        else:
            digest.update(repr(constant).encode())


def _feed_object(digest: Any, thing: Any, seen: set[int]) -> None:
    """An object by its fields, or by what pickle makes of it."""
    fields = getattr(thing, "__dict__", None)
    if fields and type(thing).__module__.split(".")[0] not in ("pandas", "scipy", "torch"):
        digest.update(type(thing).__module__.encode())
        _feed(digest, fields, seen)
        return
    try:
        digest.update(pickle.dumps(thing))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ValueError(
            f"name must be given to store fits with a {type(thing).__name__}, whose content cannot "
            "be told"
        ) from error
