"""`make docs` builds the site without warnings, with search and every public name, and without files of other hosts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from support import ROOT

# Attributes by which a page loads a file; links that a reader follows are not among them.
LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]+src=[\"']?(https?:[^\"' >]+)"
    r"|<link[^>]+rel=[\"']?(?:stylesheet|preconnect|preload)[^>]+href=[\"']?(https?:[^\"' >]+)"
)


def test_the_site_builds_strictly_with_every_public_name_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "scripts"), *sys.path])
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    index = json.loads((tmp_path / "search" / "search_index.json").read_text())
    locations = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {
        "guides/slurm.html",
        "reference/cluster-file.html",
        "reference/python/ultracluster.storage.html",
    } <= locations
    for package, names in json.loads((ROOT / "tests" / "house" / "public-api.json").read_text()).items():
        page = (tmp_path / "reference" / "python" / f"{package}.html").read_text()
        described = set(re.findall(r"<h2[^>]*>(\w+)<|<td><code>(\w+)</code></td>", page))
        assert set(names) - {name for row in described for name in row} == set(), package
    loaded = [match for page in tmp_path.rglob("*.html") for match in LOADED.findall(page.read_text())]
    assert loaded == []
