"""What a learner and a source are, as a name a store can keep: equal names mean equal fits.

Data and parameters go by their content; functions and classes by their code and what it refers to,
or by name where they come with Python or an installed package. What cannot be told by content (an
open file, a network connection) must be named by the user.
"""

import pickle
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

import numpy as np

Seen: TypeAlias = dict[int, tuple[int, Any]]
"""Functions, classes and objects met so far, by id: their number, and they (ids are used again)."""

_PLACES = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
_HELD = (bool, int, float, str, tuple, list, dict, set, frozenset, np.ndarray, type)
_PICKLED = ("pandas", "scipy")  # packages whose objects have more in their fields than content


def identity(thing: Any) -> str:
    """A hash of the content of something.

    >>> identity(lambda x: x + 1) == identity(lambda x: x + 2)
    False
    """
    digest = sha256()
    _feed(digest, thing, {})
    return digest.hexdigest()


def _feed(digest: Any, thing: Any, seen: Seen) -> None:
    digest.update(type(thing).__qualname__.encode() + b":")
    if {"detach", "cpu", "numpy"} <= set(dir(type(thing))):  # a tensor: it pickles with its address
        thing = thing.detach().cpu().numpy()
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes):
        digest.update(repr(thing).encode())
    elif isinstance(thing, np.ndarray) and thing.dtype.kind != "O":
        digest.update(f"{thing.dtype}{thing.shape}".encode())
        digest.update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, np.ndarray):
        _feed_all(digest, [thing.shape, thing.tolist()], seen)
    elif isinstance(thing, dict):
        _feed_all(digest, sorted(thing.items(), key=lambda item: repr(item[0])), seen)
    elif isinstance(thing, list | tuple):
        _feed_all(digest, thing, seen)
    elif isinstance(thing, set | frozenset):
        _feed_all(digest, sorted(thing, key=repr), seen)
    elif isinstance(thing, ModuleType):
        digest.update(thing.__name__.encode())
    elif isinstance(thing, CodeType):
        _feed_all(digest, (thing.co_code, thing.co_names, thing.co_varnames), seen)
        _feed_all(digest, thing.co_consts, seen)
    elif isinstance(thing, partial):
        _feed_all(digest, (thing.func, thing.args, thing.keywords), seen)
    elif isinstance(thing, MethodType):
        _feed_all(digest, (thing.__func__, thing.__self__), seen)
    elif id(thing) in seen:
        digest.update(b"#%d" % seen[id(thing)][0])
    else:
        seen[id(thing)] = len(seen), thing
        _feed_new(digest, thing, seen)


def _feed_all(digest: Any, things: Iterable[Any], seen: Seen) -> None:
    items = tuple(things)
    digest.update(b"%d:" % len(items))
    for item in items:
        _feed(digest, item, seen)


def _feed_new(digest: Any, thing: Any, seen: Seen) -> None:
    """A function, a class or an object."""
    name = getattr(thing, "__qualname__", "<")
    if "<" not in name and _is_installed(thing):  # <lambda> and <locals> are names of many
        digest.update(f"{thing.__module__}.{name}".encode())
    elif isinstance(thing, FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        _feed_all(digest, (thing.__code__, thing.__defaults__, thing.__kwdefaults__, cells), seen)
        names = sorted(set(_names(thing.__code__)) & thing.__globals__.keys())
        _feed_all(digest, [thing.__globals__[name] for name in names], seen)
    elif isinstance(thing, type):
        _feed_all(digest, (thing.__qualname__, thing.__bases__, _code(thing)), seen)
    elif hasattr(thing, "get_params"):  # an estimator: its parameters are all there is
        _feed_all(digest, (type(thing), thing.get_params(deep=False)), seen)
    else:
        _feed_object(digest, thing, seen)


def _feed_object(digest: Any, thing: Any, seen: Seen) -> None:
    """An object by its class and fields, or by what pickle makes of it."""
    owner, fields = type(thing), getattr(thing, "__dict__", None)
    own = fields is not None and not _is_installed(owner)
    if own or (fields and owner.__module__.split(".")[0] not in _PICKLED):
        _feed_all(digest, (owner, fields), seen)
        return
    try:
        digest.update(pickle.dumps(thing))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ValueError(
            f"name must be given to store fits with a {type(thing).__name__}, whose content cannot "
            "be told"
        ) from error


def _code(owner: type) -> dict[str, Any]:
    """The methods of a class, and the values it holds."""
    held = {key: _unwrapped(value) for key, value in vars(owner).items()}
    return {
        key: value for key, value in held.items()
        if isinstance(value, FunctionType)
        or (isinstance(value, _HELD) and not key.startswith("__"))
    }  # fmt: skip


def _unwrapped(value: Any) -> Any:
    """The function behind a property, a static or class method, or one whose results are kept."""
    for name in ("fget", "func", "__func__", "__wrapped__"):
        if (found := getattr(value, name, None)) is not None:
            return found
    return value


def _names(code: CodeType) -> Iterator[str]:
    """The names that code uses, functions inside it included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_installed(thing: Any) -> bool:
    """Whether a function or class comes with Python or a package: a name is then enough."""
    home = getattr(thing, "__module__", None) or "builtins"
    if home == "__main__" or home not in sys.modules:
        return False
    file = getattr(sys.modules[home], "__file__", None)
    return file is None or home.split(".")[0] == "doubletrouble" or file.startswith(_PLACES)
