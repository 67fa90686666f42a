"""The command, and how much an import costs."""

import subprocess
import sys

import tessera


def run(*arguments, **more):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **more)


def test_the_command_is_there():
    done = run("-m", "tessera", "--version")
    assert (done.returncode, done.stdout.split()) == (0, ["tessera", tessera.__version__])
    done = run("-m", "tessera", "check", "-", input="garbage\n")
    assert done.returncode == 1 and "unknown-op" in done.stderr


def test_an_import_needs_nothing_else():
    done = run("-c", "import sys, tessera; print(sorted({'numpy', 'concurrent.futures', 'dask'} & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr
