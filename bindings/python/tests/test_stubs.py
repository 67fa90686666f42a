"""The types of the package are true."""

import doctest
import subprocess
import sys

import pytest
import tessera

def mypy(*arguments, cwd=None):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_are_true(tmp_path):
    pytest.importorskip("mypy")
    mypy("mypy.stubtest", "tessera", "--ignore-disjoint-bases", cwd=tmp_path)


def test_the_examples_are_typed(examples, tmp_path):
    pytest.importorskip("mypy")
    files = sorted(map(str, (examples / "python").glob("*.py")))
    assert files
    mypy("mypy", "--strict", *files, cwd=tmp_path)


def test_the_pages_are_true(examples, monkeypatch):
    monkeypatch.chdir(examples.parent)
    for page in ["docs/python.md"]:
        found = doctest.testfile(str(examples.parent / page), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert found.attempted > 10 and found.failed == 0


@pytest.mark.parametrize("thing", [tessera.Program, tessera.Machine])
def test_the_docstrings_are_true(thing):
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(thing, thing.__name__, globs={}):
        runner.run(test)
    assert runner.failures == 0 and runner.tries > 0


@pytest.mark.parametrize("name", ["first_steps.py", "softmax.py", "sweep.py"])
def test_the_examples_run(examples, name):
    done = subprocess.run([sys.executable, str(examples / "python" / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
