"""What a program of another's may do to the package: arrays that lie, forks, other interpreters."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tessera

COPY = "%d = pto.tmov %s : !pto.tile<8x8xf32> -> !pto.tile<8x8xf32>"
POINTER = "func.func @k(%x: !pto.ptr<f32>) {\n  return\n}"
LARGE = """
func.func @kernel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %t = pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
  scf.for %i = %c0 to %n step %c1 {
    pto.texpands ins(%x : f32) outs(%t : !pto.tile_buf<vec, 128x128xf32>)
    pto.texp ins(%t : !pto.tile_buf<vec, 128x128xf32>) outs(%t : !pto.tile_buf<vec, 128x128xf32>)
  }
  return
}
"""


@pytest.mark.parametrize("shape", [(1 << 20, 1 << 20), (1 << 30, 1 << 28)])
def test_extents_are_compared_before_elements_are_copied(shape):
    one = np.broadcast_to(np.float32(1), shape)
    with pytest.raises(tessera.Error, match="its shape is"):
        tessera.Program(COPY).run("a5", s=one)
    with pytest.raises(tessera.Error, match="do not fit into memory"):
        tessera.Program(POINTER).run("a5", x=one)
    strided = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), shape, (0, 0))
    with pytest.raises(tessera.Error, match="its shape is"):
        tessera.Program(COPY).run("a5", s=strided)


def test_a_store_into_an_array_of_another_type_names_the_cast():
    tile = tessera.Machine("a5").tile("vec", "f32", (8, 8))
    tile[:] = np.ones((8, 8), np.float32)
    with pytest.raises(tessera.Error) as caught:
        tessera.tstore(np.zeros((8, 8), np.float64), tile)
    assert "fp4" not in str(caught.value) and "float32" in str(caught.value)


def test_an_array_interface_without_a_type_is_refused():
    class Nonsense:
        __array_interface__ = {"shape": "8x8"}

    # numpy reads the interface, and believes the addresses and lengths in it, as C does.
    with pytest.raises(tessera.Error, match="Nonsense is no array"):
        tessera.Program(COPY).run("a5", s=Nonsense())


def test_a_capsule_is_taken_once():
    class Twice:
        def __init__(self):
            self.capsule = np.ones((8, 8), np.float32).__dlpack__()

        def __dlpack__(self, **_):
            return self.capsule

        def __dlpack_device__(self):
            return (1, 0)

    tensor = Twice()
    program = tessera.Program(COPY)
    assert (program.run("a5", s=tensor)["d"] == 1).all()
    with pytest.raises((tessera.Error, ValueError)):
        program.run("a5", s=tensor)


def test_an_interrupt_of_large_instructions_comes_soon():
    program = tessera.Program(LARGE)
    told = []

    def tell():
        told.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.2, tell)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program.run("a5", n=10_000_000, outputs=["t"])
    timer.join()
    # Processor time, so that a machine with other work does not count.
    assert time.process_time() - told[0] < 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_runs_programs_of_its_own():
    program = tessera.Program(COPY)
    ones = np.ones((8, 8), np.float32)
    assert (program.run("a5", s=ones)["d"] == 1).all()
    child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(0 if (program.run("a5", s=ones)["d"] == 1).all() else 1))
    child.start()
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.skipif(sys.version_info < (3, 13), reason="other interpreters have no module yet")
def test_another_interpreter_is_refused():
    code = (
        "import _interpreters as i\n"
        "import tessera\n"
        "found = i.exec(i.create(), 'import tessera')\n"
        "print('refused' if found is not None else 'imported')\n"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert got.returncode == 0 and got.stdout.strip() == "refused", got
