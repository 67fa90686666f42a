"""What notebooks show, and the notebook of the examples."""

import json
import os
from xml.etree import ElementTree

import numpy as np
import pytest
import tessera


def test_things_show_themselves(examples):
    program = tessera.Program(examples / "softmax.pto")
    tile = tessera.Machine("a5").tile("vec", "f16", (16, 32), layout="NZ", valid=(13, 20))
    for svg in [tile.layout._repr_svg_(), program.plan("a5")._repr_svg_(), program.timeline("a5")._repr_svg_()]:
        assert ElementTree.fromstring(svg).tag.endswith("svg")
    trace = program.trace("y[3,5]", "a5", rows=13, cols=50, shapes={"x": (13, 50), "y": (13, 50)})
    wrong = tessera.Program("%d = pto.tadd %a<b").check()[0]
    x = np.ones((13, 50), np.float32)
    result = program.run("a5", x=x, rows=13, cols=50)
    for shown in [tile, trace, wrong, program, program.kernels[0], program.equiv(program, "a5", rows=2, cols=3, shapes={"x": (2, 3), "y": (2, 3)}), result]:
        html = shown._repr_html_()
        assert html.startswith("<") and "%a<b" not in html


def test_the_notebook_runs(examples, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    file = examples / "python" / "tiles.ipynb"
    assert all(not cell.get("outputs") for cell in json.loads(file.read_text())["cells"]), "kept without outputs"
    notebook = nbformat.read(file, as_version=4)
    os.environ.setdefault("JUPYTER_RUNTIME_DIR", str(tmp_path))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(examples)}}).execute()
    shown = [kind for cell in notebook.cells for out in cell.get("outputs", []) for kind in out.get("data", {})]
    assert "image/svg+xml" in shown and "text/html" in shown
