"""Arrays of every kind: strides, byte order, read-only, small float types, other libraries."""

import numpy as np
import pytest
import tessera

ml_dtypes = pytest.importorskip("ml_dtypes")

TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2, "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f4e2m1x2": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def numbers(dtype):
    return (np.arange(16 * 64).reshape(16, 64) % 4 + 1).astype(np.float32).astype(dtype)


@pytest.mark.parametrize("elem", TYPES)
def test_every_element_type_goes_in_and_out(elem):
    tile = tessera.Machine("a5").tile("vec", elem, (16, 64))
    x = numbers(TYPES[elem])
    tile[:] = x
    assert tile.numpy().dtype == x.dtype and tile.elem == elem
    assert (tile.numpy().astype(np.float32) == x.astype(np.float32)).all() and tile.defined.all()
    copy = f"%d = pto.tmov %s : !pto.tile<16x64x{elem}> -> !pto.tile<16x64x{elem}>"
    got = tessera.Program(copy).run("a5", s=x)["d"]
    assert got.dtype == x.dtype and (got.astype(np.float32) == x.astype(np.float32)).all()


def test_bits_are_taken_where_numpy_has_no_type():
    m = tessera.Machine("a5")
    tile = m.tile("vec", "bf16", (16, 64))
    tile[:] = np.full((16, 64), 0x3F80, np.uint16)
    assert (tile.numpy().astype(np.float32) == 1).all()
    for elem, cols in [("hif8", 64), ("f4e1m2x2", 32)]:
        tile = m.tile("vec", elem, (16, 64))
        bits = np.arange(16 * cols, dtype=np.uint8).reshape(16, cols)
        tile[:] = bits
        assert tile.numpy().dtype == np.uint8 and (tile.numpy() == bits).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[::-1],
        lambda x: np.asfortranarray(x),
        lambda x: x.astype(">f4"),
        lambda x: x.astype(">f4")[::-1],
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: np.broadcast_to(x[:1], x.shape),
        lambda x: np.lib.stride_tricks.as_strided(x, writeable=False),
    ],
)
def test_strides_and_byte_order_are_read_as_numpy_does(change):
    x = change(np.arange(1024, dtype=np.float32).reshape(16, 64))
    before = x.copy()
    m = tessera.Machine("a5")
    tile, loaded = m.tile("vec", "f32", (16, 64)), m.tile("vec", "f32", (16, 64))
    tile[:] = x
    tessera.tload(loaded, x)
    text = "%d = pto.tmov %s : !pto.tile<16x64xf32> -> !pto.tile<16x64xf32>"
    for got in [tile.numpy(), loaded.numpy(), tessera.Program(text).run("a5", s=x)["d"]]:
        assert (got == before).all()
    assert (x == before).all()


def test_stores_go_into_the_callers_array_and_nowhere_else():
    tile = tessera.Machine("a5").tile("vec", "f32", (16, 64))
    tile[:] = np.arange(1024, dtype=np.float32).reshape(16, 64)
    for dtype in ["<f4", ">f4"]:
        big = np.zeros((32, 128), dtype)
        tessera.tstore(big[::2, ::2], tile)
        assert (big[::2, ::2] == tile.numpy()).all() and big[1::2].sum() == 0 and big[:, 1::2].sum() == 0
    big.flags.writeable = False
    with pytest.raises(tessera.Error, match="read-only"):
        tessera.tstore(big[:16, :64], tile)
    with pytest.raises(tessera.Error, match="numpy array"):
        tessera.tstore([[0.0] * 64] * 16, tile)


def test_plain_numbers_and_lists_take_the_tiles_type():
    m = tessera.Machine("a5")
    tile = m.tile("vec", "i8", (16, 64))
    tile[:] = 3
    tile[2, 3] = 7
    assert tile[2, 3] == 7 and tile[0, 0] == 3
    tile[:] = [[1] * 64] * 16
    assert (np.asarray(tile) == 1).all()
    for wrong in [300, 1.5, [[1.5] * 64] * 16, [[1], [2, 3]], np.ones((16, 64), bool), np.ones((3, 64), np.int8)]:
        with pytest.raises(tessera.Error):
            tile[:] = wrong
    assert (tile.numpy() == 1).all()
    fresh = m.tile("vec", "f32", (16, 64))
    with pytest.raises(tessera.Error, match="undefined"):
        fresh[0, 0] = 1


class Tensor:
    """What other libraries hand over."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    tile = tessera.Machine("a5").tile("vec", "f32", (16, 64))
    tile[:] = Tensor(np.full((16, 64), 2, np.float32))
    assert (tile.numpy() == 2).all()
    torch = pytest.importorskip("torch")
    tile[:] = torch.ones(16, 64, requires_grad=True)
    assert (tile.numpy() == 1).all()
    small = tessera.Machine("a5").tile("vec", "bf16", (16, 64))
    small[:] = torch.ones(16, 64, dtype=torch.bfloat16)
    assert (small.numpy().astype(np.float32) == 1).all()


def test_arrays_without_elements_and_of_many_dimensions():
    text = "func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {\n  return\n}"
    result = tessera.Program(text).run(x=np.zeros((0, 4), np.float32), y=np.zeros((2, 3, 4), np.float32))
    assert list(result) == []


def test_undefined_elements_are_masked_or_refused_and_never_zero_in_silence():
    m = tessera.Machine("a5")
    tile = m.tile("vec", "f32", (16, 64))
    assert tile.shape == (16, 64) and isinstance(tile.shape, tuple) and tile.dtype == np.float32
    array = tile.numpy()
    assert isinstance(array, np.ma.MaskedArray) and array.mask.all() and tile[0, 0] is np.ma.masked
    assert (tile.numpy(undefined="zero") == 0).all()
    for plain in [lambda: np.asarray(tile), lambda: tile.numpy(undefined="raise")]:
        with pytest.raises(tessera.Error, match="1024 of the 1024 elements of the tile were never written") as error:
            plain()
        assert error.value.rule == "undefined-read"
    with pytest.raises(tessera.Error, match="'mask', 'raise' or 'zero'"):
        tile.numpy(undefined="nan")
    # A part of it: rows that a wider valid region has besides.
    tile.valid = (4, 64)
    tile[:] = 1
    tile.valid = (16, 64)
    array = tile.numpy()
    assert array.count() == 4 * 64 and float(array.sum()) == 256 and not array.mask[:4].any() and array.mask[4:].all()
    tile[:] = 2
    assert type(tile.numpy()) is np.ndarray and (np.asarray(tile) == 2).all()


def test_a_tile_is_printed_in_a_line_and_in_a_few():
    tile = tessera.Machine("a5").tile("vec", "f32", (16, 64))
    assert repr(tile) == "<Tile vec 16x64xf32 ND on a5>"
    assert "--" in str(tile) and "\n" not in repr(tile)
    tile[:] = np.arange(1024, dtype=np.float32).reshape(16, 64)
    assert str(tile).splitlines()[0] == "vec 16x64xf32 ND" and len(str(tile).splitlines()) < 12
    assert "1.023e+03" in str(tile) or "1023." in str(tile)


@pytest.mark.parametrize("elem", ["bf16", "f8e4m3", "f4e2m1x2", "i32", "u8"])
def test_dtype_is_that_of_the_contents(elem):
    tile = tessera.Machine("a5").tile("vec", elem, (16, 64))
    assert tile.numpy().dtype == tile.dtype and tile.numpy().mask.all()
