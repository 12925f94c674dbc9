"""`main`, the program of an app: where it reads the context, and what it imports for a bad cluster file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ultracluster.stacks import main

APP = """
import sys
from ultracluster.stacks import main
try:
    main("cluster.yaml")
finally:
    print(*sorted({"aws_cdk", "jsii", "pydantic"} & set(sys.modules)))
"""


def test_a_bad_cluster_file_is_refused_before_the_cdk_is_imported(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("name: x\n")
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {name: value for name, value in os.environ.items() if name != "CDK_CONTEXT_JSON"}
    environment["PYTHONPATH"] = path
    done = subprocess.run([sys.executable, "-c", APP], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cluster.yaml:1:7 name: " in done.stderr
    assert done.stdout.split() == ["pydantic"]


def test_context_comes_from_where_the_app_of_the_cdk_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps({"cluster": "variable.yaml"}))
    with pytest.raises(SystemExit, match=r"^variable\.yaml"):
        main("argument.yaml")
    # The CDK CLI writes a context to a file that is too long for a variable.
    (tmp_path / "context.json").write_text(json.dumps({"cluster": "overflow.yaml"}))
    monkeypatch.setenv("CONTEXT_OVERFLOW_LOCATION_ENV", str(tmp_path / "context.json"))
    with pytest.raises(SystemExit, match=r"^overflow\.yaml"):
        main("argument.yaml")
    program = "import aws_cdk; print(aws_cdk.App().node.try_get_context('cluster'))"
    read = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert read.stdout.strip() == "overflow.yaml"


def test_an_app_without_a_cluster_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDK_CONTEXT_JSON", raising=False)
    with pytest.raises(SystemExit, match=r"name a cluster file: -c cluster=FILE"):
        main()
