"""Instructions as functions: all of the table, and what numpy says."""

import inspect

import numpy as np
import pytest
import tessera
from tessera import instructions

R = np.random.default_rng(5)


def tiles(elem, count, profile="a5", **more):
    m = tessera.Machine(profile)
    return [m.tile("vec", elem, (16, 64), **more) for _ in range(count)]


def test_every_instruction_has_a_page_and_says_how_it_is_called():
    assert len(instructions.__all__) > 120 and set(instructions.__all__) <= set(dir(tessera))
    for name in instructions.__all__:
        function = getattr(tessera, name)
        assert function.__name__ == name and "an instruction" in function.__doc__, name
        with pytest.raises(tessera.Error, match=f"call {name}\\(") as caught:
            function()
        assert caught.value.rule == "binding"
    assert list(inspect.signature(tessera.tadd).parameters) == ["dst", "src0", "src1"]
    with pytest.raises(AttributeError, match="did you mean 'tadd'"):
        tessera.tad


BINARY = {
    "tadd": np.add, "tsub": np.subtract, "tmul": np.multiply, "tdiv": np.divide, "tmax": np.maximum, "tmin": np.minimum,
}  # fmt: skip
INTEGER = {"tand": np.bitwise_and, "tor": np.bitwise_or, "txor": np.bitwise_xor, "tadd": np.add, "tmul": np.multiply}
UNARY = {"tabs": np.abs, "tneg": np.negative, "tsqrt": np.sqrt, "trelu": lambda x: np.maximum(x, np.float32(0))}
SCALAR = {"tadds": np.add, "tsubs": np.subtract, "tmuls": np.multiply, "tmaxs": np.maximum, "tmins": np.minimum}
REDUCE = {"trowmax": np.max, "trowmin": np.min}


@pytest.mark.parametrize("profile", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize("elem", ["f32", "f16"])
def test_float_arithmetic_is_numpys(profile, elem):
    dtype = np.float32 if elem == "f32" else np.float16
    x, y = (R.uniform(0.5, 4, (16, 60)).astype(dtype) for _ in range(2))
    c, a, b = tiles(elem, 3, profile, valid=(16, 60))
    a[:], b[:] = x, y
    for name, function in BINARY.items():
        getattr(tessera, name)(c, a, b)
        assert (c.numpy() == function(x, y)).all(), name
    for name, function in UNARY.items():
        getattr(tessera, name)(c, a)
        assert (c.numpy() == function(x)).all(), name
    for name, function in SCALAR.items():
        getattr(tessera, name)(c, a, 2)
        assert (c.numpy() == function(x, dtype(2))).all(), name
        getattr(tessera, name)(dst=c, src=a, scalar=np.float32(1.5))
        assert (c.numpy() == function(x, dtype(1.5))).all(), name


def test_integer_arithmetic_is_numpys():
    x, y = (R.integers(-1000, 1000, (16, 64)).astype(np.int32) for _ in range(2))
    c, a, b, tmp = tiles("i32", 4)
    a[:], b[:] = x, y
    for name, function in INTEGER.items():
        arguments = (c, a, b, tmp) if name == "txor" else (c, a, b)
        getattr(tessera, name)(*arguments)
        assert (c.numpy() == function(x, y)).all(), name


def test_reductions_products_and_moves():
    m = tessera.Machine("a5")
    x = R.standard_normal((16, 64)).astype(np.float32)
    a, tmp, t = m.tile("vec", "f32", (16, 64)), m.tile("vec", "f32", (16, 64)), m.tile("vec", "f32", (64, 16))
    a[:] = x
    column = m.tile("vec", "f32", (16, 1), layout="DN")
    for name, function in REDUCE.items():
        getattr(tessera, name)(column, a, tmp)
        assert (column.numpy() == function(x, axis=1, keepdims=True)).all(), name
    tessera.ttrans(t, a)
    assert (t.numpy() == x.T).all()
    left, right, acc = m.tile("left", "f16", (16, 32)), m.tile("right", "f16", (32, 16)), m.tile("acc", "f32", (16, 16))
    p, q = (R.integers(-4, 4, shape).astype(np.float16) for shape in [(16, 32), (32, 16)])
    left[:], right[:] = p, q
    tessera.tmatmul(acc, left, right)
    assert (acc.numpy() == p.astype(np.float32) @ q.astype(np.float32)).all()
    nz = m.tile("vec", "f16", (16, 32), layout="NZ")
    nd = m.tile("vec", "f16", (16, 32))
    nd[:] = p
    tessera.tmov(nz, nd)
    assert (nz.numpy() == p).all() and nz.layout.name == "NZ" and nz.raw != nd.raw


def test_forms_are_chosen_by_what_is_given():
    c, a = tiles("f32", 2)
    a[:] = 4
    tessera.tdivs(c, a, 2)
    assert (c.numpy() == 2).all()
    tessera.tdivs(c, 2, a)
    assert (c.numpy() == 0.5).all()
    elsewhere = tessera.Machine("a5").tile("vec", "u8", (16, 32))
    with pytest.raises(tessera.Error, match="different machines"):
        tessera.tcmps(elsewhere, a, 5)
    m = tessera.Machine("a5")
    mask, b = m.tile("vec", "u8", (16, 32)), m.tile("vec", "f32", (16, 64))
    b[:] = np.broadcast_to(np.arange(64, dtype=np.float32), (16, 64))
    for mode in ["lt", "LT"]:
        tessera.tcmps(mask, b, 5.0, cmpMode=mode)
        assert mask.numpy()[0, :4].tolist() == [31, 0, 0, 0]
    tessera.tcmps(mask, b, 5.0, cmp_mode="ge")
    assert mask.numpy()[0, 0] == 0xE0


def test_conv_tiles():
    m = tessera.Machine("a5")
    image, left = m.conv_tile("f16", (1, 1, 4, 4, 16)), m.tile("left", "f16", (16, 144))
    image[:] = np.ones((1, 1, 4, 4, 16), np.float16)
    tessera.timg2col(left, image, kernel=(3, 3), pad=[1, 1, 1, 1])
    assert (left[0, 0], left[0, 64]) == (0, 1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda c, a: tessera.tadd(c, a), "(a tile, a tile)"),
        (lambda c, a: tessera.tadd(c, a, 3), "a number"),
        (lambda c, a: tessera.tadd(c, a, "x"), "str"),
        (lambda c, a: tessera.tadd(c, a, src2=a), "did you mean"),
        (lambda c, a: tessera.tadd(c, a, a, src1=a), "cannot be called"),
        (lambda c, a: tessera.tadds(c, a, 2**200), "128 bits"),
        (lambda c, a: tessera.tcmps(c, a, 1.0, cmpMode="less"), "one of"),
        (lambda c, a: c.assign(2**40), "address"),
    ],
)
def test_wrong_calls_have_sentences(call, says):
    c, a = tiles("f32", 2)
    a[:] = 1
    with pytest.raises(tessera.Error) as caught:
        call(c, a)
    assert says in str(caught.value)


def test_rules_are_asked():
    m = tessera.Machine("a2a3")
    src, dst = m.tile("vec", "f32", (16, 64)), m.tile("mat", "f32", (16, 64))
    with pytest.raises(tessera.Error) as caught:
        tessera.tmov(dst, src)
    assert caught.value.rule == "tmov-loc" and caught.value.diagnostics[0].help
    with pytest.raises(tessera.Error) as caught:
        m.tile("vec", "f32", (16, 3))
    assert caught.value.rule == "tile-align"
    for wrong in [("vex", "f32"), ("vec", "f33"), ("vec", object())]:
        with pytest.raises(tessera.Error):
            m.tile(*wrong, (16, 64))
    with pytest.raises(TypeError):
        m.tile("vec", "f32")


def test_valid_regions_and_types_as_text():
    m = tessera.Machine("a5")
    tile = m.tile("vec", np.float32, (16, 64), valid=(3, 40), pad="zero")
    assert (tile.valid, tile.shape, tile.loc) == ((3, 40), (16, 64), "vec")
    tile.valid = (16, 64)
    assert tile.numpy().shape == (16, 64)
    text = m.tile("!pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>")
    assert (text.loc, text.elem, text.layout.name) == ("mat", "f16", "NZ")
    with pytest.raises(tessera.Error):
        tile.valid = (17, 64)
    with pytest.raises(tessera.Error, match="no tile type"):
        m.tile("nonsense")


def test_an_element_is_read_as_a_number():
    m = tessera.Machine("a5")
    tile, words = m.tile("vec", "f32", (2, 8)), m.tile("vec", "i32", (2, 8))
    tile[:], words[:] = np.arange(16, dtype=np.float32).reshape(2, 8) / 4, -7
    assert tessera.tgetval(tile, 9) == 2.25 and tessera.tgetval(src=words, index=3) == -7
    tessera.tsetval(words, 3, 12)
    assert tessera.tgetval(words, 3) == 12 and type(tessera.tgetval(words, 3)) is int
    with pytest.raises(tessera.Error) as caught:
        tessera.tgetval(tile, 16)
    assert caught.value.rule == "tgetval-index"
    with pytest.raises(tessera.Error) as caught:
        tessera.tgetval(m.tile("vec", "f32", (2, 8)), 0)
    assert caught.value.rule == "undefined-use"


@pytest.mark.parametrize("shape", [16, (16,), (16, -64), (16, 64, 1), ("16", "64"), (16, 2.5)])
def test_a_shape_is_two_numbers(shape):
    with pytest.raises(tessera.Error, match="is no number of rows and of columns"):
        tessera.Machine("a5").tile("vec", "f32", shape)
    tile = tessera.Machine("a5").tile("vec", "f32", (16, 64), valid=[3, 4])
    with pytest.raises(tessera.Error, match="is no number of rows and of columns"):
        tile.valid = shape
    assert tile.valid == (3, 4)
