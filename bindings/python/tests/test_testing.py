"""assert_kernel, and sweeps."""

import numpy as np
import pytest
import tessera
from tessera.testing import assert_kernel

ADD = "%d = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>"
ONES = np.ones((8, 8), np.float32)


def test_what_is_right_passes(examples):
    result = assert_kernel(ADD, profile="a5", inputs={"a": ONES, "b": ONES}, expected={"d": 2 * ONES})
    assert (result["d"] == 2).all()
    x = np.random.default_rng(3).standard_normal((4, 8)).astype(np.float32)
    e = np.exp(x.astype(np.float64))
    inputs = {"x": x, "rows": 4, "cols": 8}
    assert_kernel(examples / "softmax.pto", profile="a5", inputs=inputs, expected={"y": e / e.sum(1, keepdims=True)}, ulp=4)


def test_failures_show_the_worst_elements_and_where_they_were_written():
    wanted = 2 * ONES
    wanted[3, 5], wanted[1, 2] = 9, 2.5
    with pytest.raises(AssertionError) as caught:
        assert_kernel(ADD, profile="a5", inputs={"a": ONES, "b": ONES}, expected={"d": wanted}, atol=0.1)
    lines = str(caught.value).splitlines()
    assert lines[1] == "%d differs in 2 of 64 elements; the worst are"
    assert lines[2].startswith("  [3, 5]: 2.0 instead of 9.0 (off by 7") and lines[2].endswith("written in line 1 by tadd")
    assert lines[3].startswith("  [1, 2]: 2.0 instead of 2.5")
    with pytest.raises(AssertionError, match=r"\(8, 8\), and \(8, 7\) is expected"):
        assert_kernel(ADD, inputs={"a": ONES, "b": ONES}, expected={"d": wanted[:, :7]})
    with pytest.raises(tessera.Error, match="%e"):
        assert_kernel(ADD, inputs={"a": ONES, "b": ONES}, expected={"e": wanted})


def test_the_plugin_has_a_fixture(assert_kernel):
    assert assert_kernel is tessera.testing.assert_kernel


def cases(count):
    for n in range(count):
        yield {"program": ADD, "profile": "a5", "inputs": {"a": n * ONES, "b": ONES}, "expected": {"d": (n + 1) * ONES}}
    yield tessera.Case(ADD, inputs={"a": ONES}, name="unbound")
    yield tessera.Case(ADD, inputs={"a": ONES, "b": ONES}, expected={"d": ONES}, name="wrong")


def check(outcomes):
    assert [o.ok for o in outcomes] == [True] * 20 + [False, False]
    assert all((o.result["d"] == n + 1).all() for n, o in enumerate(outcomes[:20]))
    assert isinstance(outcomes[-2].error, tessera.Error) and outcomes[-2].name == "unbound"
    assert "differs in 64" in str(outcomes[-1].error)


def test_a_sweep_on_threads_tells_how_far_it_is_and_goes_on_where_it_was(tmp_path, monkeypatch):
    seen = []
    check(tessera.sweep(cases(20), progress=lambda done, of: seen.append((done, of)), batch=3, store=tmp_path))
    assert seen[-1] == (22, 22) and seen == sorted(seen)
    assert len(list(tmp_path.iterdir())) == 22
    monkeypatch.setattr(tessera.Case, "run", lambda self: pytest.fail("it was run before"))
    check(tessera.sweep(cases(20), store=tmp_path))
    monkeypatch.undo()
    broken = next(tmp_path.iterdir())
    broken.write_bytes(b"\x80")
    check(tessera.sweep(cases(20), store=tmp_path))


def test_a_sweep_on_two_dask_workers():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            check(tessera.sweep(cases(20), client, batch=4))
