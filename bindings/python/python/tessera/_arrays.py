"""Arrays of other libraries as numpy's, and bytes as arrays of the types that numpy has no name for."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._error import Error
from ._tessera import element_type


def as_numpy(data: Any, elem: str | None) -> np.ndarray[Any, Any]:
    """Whatever somebody gives as an array of an element type; arrays keep their type, plain numbers take that one."""
    if hasattr(data, "__dlpack__"):
        return _from_dlpack(data)
    try:
        array = np.asarray(data)
    except (ValueError, TypeError) as error:
        raise _refused(f"{type(data).__name__} is no array: {error}") from None
    if array.dtype.kind not in "fiub" or hasattr(data, "__array__") or elem is None:
        if array.dtype.kind in "OUSmM":
            raise _refused(f"{type(data).__name__} is no array of numbers")
        return array
    return _cast(array, elem)


def _from_dlpack(data: Any) -> np.ndarray[Any, Any]:
    data = data.detach() if hasattr(data, "detach") else data
    try:
        return np.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # numpy knows no bfloat16: the bits come over, and ml_dtypes names them. Whoever has a tensor has torch.
        name = str(getattr(data, "dtype", "")).removeprefix("torch.")
        torch = sys.modules.get("torch")
        bits = {1: "uint8", 2: "uint16"}.get(getattr(data, "itemsize", 0))
        if torch is None or bits is None or not name.startswith(("bfloat", "float8")):
            raise _refused(f"{type(data).__name__} cannot be read: {error}") from None
        raw: np.ndarray[Any, Any] = np.from_dlpack(data.view(torch.uint8)).view(bits)
        named = _ml_dtype(name)
        return raw if named is None else raw.view(named)


def _cast(array: np.ndarray[Any, Any], elem: str) -> np.ndarray[Any, Any]:
    """Plain numbers in the element type, where it holds them; else as they are, to be refused with their type."""
    native, name, packed = element_type(elem)
    dtype = np.dtype(native)
    named = None if packed or name is None or dtype.name == name else _ml_dtype(name)
    if dtype.name != name:
        return array if named is None else array.astype(named)
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if array.dtype.kind == "f" or array.size and (int(array.min()) < low or int(array.max()) > high):
            return array
    return array.astype(dtype)


def _ml_dtype(name: str) -> Any:
    try:
        import ml_dtypes
    except ImportError:
        return None
    return getattr(ml_dtypes, name, None)


def from_bytes(
    flat: np.ndarray[Any, Any], native: str, name: str | None, shape: list[int], packed: bool
) -> np.ndarray[Any, Any]:
    """Elements in their shape: of ml_dtypes' type where it is needed and there, else their bits."""
    dtype = np.dtype(native)
    named = None if name is None or dtype.name == name else _ml_dtype(name)
    if packed and named is not None:
        flat = np.stack([flat & 15, flat >> 4], axis=-1).reshape(-1)[: int(np.prod(shape))]
    elif packed:
        # Rows of an odd number of elements share bytes, and have no rows of bytes.
        shape = [*shape[:-1], shape[-1] // 2] if shape[-1] % 2 == 0 else [flat.size]
    made: np.ndarray[Any, Any] = flat.view(dtype if named is None else named)
    return made.reshape(shape)


def dtype(elem: str) -> np.dtype[Any]:
    """The numpy type of an element type: ml_dtypes' where it is needed and there, else that of its bits."""
    native, name, _ = element_type(elem)
    plain = np.dtype(native)
    named = None if name is None or plain.name == name else _ml_dtype(name)
    return plain if named is None else np.dtype(named)


def with_undefined(array: np.ndarray[Any, Any], defined: np.ndarray[Any, Any], undefined: str) -> np.ndarray[Any, Any]:
    """The array, with elements that nothing has written masked, refused or zero."""
    if undefined not in ("mask", "raise", "zero"):
        raise _error("binding", f"undefined is 'mask', 'raise' or 'zero', and {undefined!r} is none of them")
    if undefined == "zero" or defined.all():
        return array
    if undefined == "raise":
        count = int(defined.size - defined.sum())
        raise _error(
            "undefined-read",
            f"{count} of the {defined.size} elements of the tile were never written",
            "write them, or take tile.numpy(), where they are masked",
        )
    if defined.shape != array.shape:
        # Two elements in a byte.
        defined = defined.reshape(*array.shape, 2).all(-1)
    return np.ma.MaskedArray(array, mask=~defined)


def _refused(message: str) -> Error:
    return _error("binding", message, "give a numpy array")


def _error(rule: str, message: str, help: str | None = None) -> Error:
    error = Error(f"error[{rule}]: {message}" + ("" if help is None else f"\n  help: {help}"))
    error.rule, error.diagnostics = rule, []
    return error
