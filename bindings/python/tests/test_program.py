"""Programs: check, run, trace, equiv, plan, conversions, and what is wrong with what is given."""

import json
import pickle
import signal
import threading

import numpy as np
import pytest
import tessera

ADD = "%d = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>"
ONES = np.ones((8, 8), np.float32)


def test_a_listing_runs_on_every_profile():
    program = tessera.Program(ADD)
    for profile in ["cpu", "a2a3", "a5"]:
        result = program.run(profile, a=ONES, b=2 * ONES)
        assert result.profile == profile and list(result) == ["d"]
        assert result["d"].dtype == np.float32 and (result["d"] == 3).all() and (result["%d"] == 3).all()
    assert program.run("Ascend950", a=ONES, b=ONES).profile == "a5"


def test_a_kernel_runs_with_numbers_and_matches_numpy(examples):
    program = tessera.Program(examples / "softmax.pto")
    x = np.random.default_rng(7).standard_normal((13, 50)).astype(np.float32)
    result = program.run("a5", x=x, rows=13, cols=np.int64(50), outputs=["total"])
    wanted = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(result["y"], wanted / wanted.sum(1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(result["total"][:, :1], wanted.sum(1, keepdims=True), rtol=1e-6)


def test_kernels_say_what_they_need(examples):
    [kernel] = tessera.Program(examples / "softmax.pto").kernels
    names = [a.name for a in kernel.arguments]
    assert names[:2] == ["x", "y"] and kernel.is_entry
    x, y = kernel.arguments[:2]
    assert (x.kind, x.elem, x.is_read, y.is_written) == ("memory", "f32", True, True)


def test_diagnostics_are_objects_with_places():
    text = "\n" + ADD.replace("8x8xf32>) ->", "8x7xf32>) ->")
    [found] = tessera.Program(text).check("a5")
    assert (found.rule, found.severity, found.line, found.is_error) == ("tile-align", "error", 2, True)
    assert found.column == 45 and found.help == "cols 7 → 8, keep v_col=7"
    assert found.message in found.rendered and "8x7xf32" in str(found)
    assert pickle.loads(pickle.dumps(found)) == found and hash(found) == hash(pickle.loads(pickle.dumps(found)))


def test_errors_in_the_text_are_told_by_check_and_raised_by_everything_else():
    program = tessera.Program("garbage\n")
    assert [d.rule for d in program.check()] == ["unknown-op"]
    questions = [program.run, program.plan, program.cpp, lambda: program.to("ssa"), lambda: program.kernels]
    for ask in [*questions, lambda: program.trace("d[0,0]"), lambda: program.equiv(program)]:
        with pytest.raises(tessera.Error) as caught:
            ask()
        assert caught.value.rule == "unknown-op" and caught.value.diagnostics[0].line == 1
        assert "garbage" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"a": ONES.astype(np.float64)}, "float64"),
        ({"a": np.ones((8, 7), np.float32)}, "(8, 7)"),
        ({"a": np.ones((8, 8, 1), np.float32)}, "(8, 8, 1)"),
        ({"a": np.ones((8, 8), complex)}, "complex128"),
        ({"a": np.ones((8, 8), object)}, "object"),
        ({"a": object()}, "object"),
        ({"a": None}, "NoneType"),
        ({"a": "nonsense"}, "nonsense"),
        ({"a": 3}, "shape"),
        ({"q": ONES}, "%q"),
        ({}, "%a"),
    ],
)
def test_what_does_not_fit_is_named(given, says):
    with pytest.raises(tessera.Error) as caught:
        tessera.Program(ADD).run("a5", **given)
    assert caught.value.rule == "binding" and says in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p: p.check("a6"), "did you mean 'a5'"),
        (lambda p: p.run("a5", blocks=0), "0 blocks"),
        (lambda p: p.run("a5", entry="k"), "k"),
        (lambda p: p.run("a5", a=ONES, b=ONES, outputs=["e"]), "%e"),
        (lambda p: p.to("asn"), "did you mean 'asm'"),
        (lambda p: p.trace("d"), "no element"),
        (lambda p: p.trace("d[9,0]"), "outside"),
        (lambda p: p.equiv(p, shapes=3), "dictionary"),
        (lambda p: tessera.explain("tad"), "did you mean"),
    ],
)
def test_wrong_questions_have_sentences(call, says):
    with pytest.raises(tessera.Error, match=says.replace("(", r"\(")):
        call(tessera.Program(ADD))


def test_files_that_are_not_there():
    with pytest.raises(FileNotFoundError, match="nowhere.pto"):
        tessera.Program("nowhere.pto")
    with pytest.raises(tessera.Error, match="no program"):
        tessera.Program(3)
    with pytest.raises(KeyError, match="did you mean 'd'"):
        tessera.Program(ADD).run(a=ONES, b=ONES)["e"]


def test_made_up_inputs_are_the_same_each_time():
    program = tessera.Program(ADD)
    one, two = (program.run(a="random:3", b="iota")["d"] for _ in range(2))
    assert (one == two).all() and len(np.unique(one)) > 8


def test_traces_plans_and_proofs():
    program = tessera.Program(ADD)
    trace = program.trace("%d[3,5]")
    assert trace.formula == "%a[3, 5] + %b[3, 5]" and trace.steps[0]["op"] == "tadd" and trace.steps[0]["line"] == 1
    assert "ends in %d[3, 5]" in str(program.trace("a[3,5]", forward=True))
    plan = program.plan("a5")
    assert [(t["name"], t["address"], t["bytes"]) for t in plan.tiles] == [("a", 0, 256), ("b", 256, 256), ("d", 512, 256)]
    other = tessera.Program(ADD.replace("%a, %b", "%b, %a"))
    assert program.equiv(program).answer == "equal" and bool(program.equiv(program))
    different = program.equiv(tessera.Program(ADD.replace("tadd", "tsub")))
    assert different.answer == "different" and not different and different.details
    assert program.equiv(other)
    assert tessera.Program(program.to("dps")).equiv(program)
    assert "TADD(" in program.cpp("a5")


def test_pickles_and_threads():
    program = pickle.loads(pickle.dumps(tessera.Program(ADD, profile="a5", name="add")))
    assert program == tessera.Program(ADD, profile="a5", name="add") and (program.name, program.profile) == ("add", "a5")
    results = {}

    def run(n):
        results[n] = program.run(a=n * ONES, b=ONES)["d"][0, 0]

    threads = [threading.Thread(target=run, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: n + 1 for n in range(16)}
    result = pickle.loads(pickle.dumps(program.run(a=ONES, b=ONES)))
    assert (result["d"] == 2).all() and result.warnings == []
    with pytest.raises(tessera.Error) as caught:
        program.run(a=ONES)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.rule, again.diagnostics, str(again)) == ("binding", caught.value.diagnostics, str(caught.value))


def test_inputs_are_never_written_and_outputs_belong_to_the_caller():
    text = """func.func @k(%x: memref<8x8xf32>) {
  %t = pto.alloc_tile : !pto.tile_buf<8x8xf32>
  pto.tload ins(%x : memref<8x8xf32>) outs(%t : !pto.tile_buf<8x8xf32>)
  pto.tadd ins(%t, %t : !pto.tile_buf<8x8xf32>, !pto.tile_buf<8x8xf32>) outs(%t : !pto.tile_buf<8x8xf32>)
  pto.tstore ins(%t : !pto.tile_buf<8x8xf32>) outs(%x : memref<8x8xf32>)
  return
}"""
    x = ONES.copy()
    result = tessera.Program(text).run("a5", x=x)
    assert (result["x"] == 2).all() and (x == 1).all()
    result["x"][:] = 7
    assert (x == 1).all() and result["x"].flags.writeable


def test_warnings_and_prints():
    text = "%t = pto.alloc_tile : !pto.tile_buf<8x8xf32>\npto.tprint ins(%t : !pto.tile_buf<8x8xf32>)\n"
    result = tessera.Program(text).run()
    assert "%t: f32 (8, 8)" in result.printed
    assert [(w.rule, w.line) for w in result.warnings] == [("never-written", 2), ("undefined-read", 2), ("undefined-read", 1)]


def test_races(examples):
    assert tessera.Program(examples / "softmax.pto").races("a5").verdict == "race-free"
    # Nobody waits for the load.
    text = """func.func @k(%x: memref<8x8xf32>) attributes {pto.sync = "manual"} {
  %t = pto.alloc_tile : !pto.tile_buf<8x8xf32>
  pto.tload ins(%x : memref<8x8xf32>) outs(%t : !pto.tile_buf<8x8xf32>)
  pto.tadd ins(%t, %t : !pto.tile_buf<8x8xf32>, !pto.tile_buf<8x8xf32>) outs(%t : !pto.tile_buf<8x8xf32>)
  return
}"""
    found = tessera.Program(text).races("a5")
    assert found.verdict == "races" and found.diagnostics[0].is_error and "tadd" in str(found)


def test_timelines(examples, tmp_path):
    program = tessera.Program(examples / "sync" / "double.pto")
    line = program.timeline("a5", n=4, costs=examples / "sync" / "costs.toml")
    assert (line.total, line.unknown, line.at_least) == (788, 0, False) and repr(line) == "<Timeline of 788 cycles>"
    assert [(p["pipe"], p["busy"]) for p in line.pipes] == [("V", 148), ("MTE2", 512), ("MTE3", 512)]
    path = line.critical_path
    assert path[0]["instruction"] == "tload" and path[0]["after"] == "start"
    assert path[-1]["start"] + path[-1]["cycles"] == line.total
    events = json.loads(line.json)["traceEvents"]
    assert sum(e["ph"] == "X" and e["name"] == "tadd" for e in events) == 4
    assert line.bound.startswith("bounded by MTE3") and line.bound in str(line)
    assert program.timeline("a2a3", n=1).at_least
    with pytest.raises(tessera.Error, match="how often this loop runs depends on %n"):
        program.timeline("a5")
    with pytest.raises(tessera.Error, match="cpu has no costs"):
        program.timeline("cpu", n=1)
    costs = tmp_path / "costs.toml"
    costs.write_text("[[vector]]\nprofile = 'a6'\n")
    with pytest.raises(tessera.Error, match="line 2, column 11: there is no profile 'a6'"):
        program.timeline("a5", n=1, costs=costs)
    with pytest.raises(OSError):
        program.timeline("a5", n=1, costs=tmp_path / "none.toml")


LONG = """
func.func @kernel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    pto.texpands ins(%x : f32) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  }
  return
}
"""


@pytest.mark.parametrize("what", ["run", "equiv"])
def test_an_interrupt_ends_a_run(what):
    program = tessera.Program(LONG)
    ask = {
        "run": lambda: program.run("a5", n=100_000_000, outputs=["t"]),
        "equiv": lambda: program.equiv(program, "a5", n=100_000_000, outputs=["t"]),
    }[what]
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ask()
    timer.join()
    # And the next one is as if nothing had been.
    assert (program.run("a5", n=1, outputs=["t"])["t"] == 1).all()
