"""docs/guides/cluster-file.md shows what the library prints."""

import re

from support import ROOT
from support.clusterfile_data import problems
from ultracluster.clusterfile._quantities import Duration, Size, Throughput

PAGE = (ROOT / "docs" / "guides" / "cluster-file.md").read_text()


def test_every_unit_is_on_the_page() -> None:
    for kind in (Throughput, Size, Duration):
        assert ", ".join(kind.units) in PAGE


def test_the_errors_on_the_page_are_the_errors_of_the_library() -> None:
    shown = re.findall(r"^my\.yaml(:.*)$", PAGE, re.MULTILINE)
    text = PAGE.partition("```yaml\n")[2].partition("```")[0]
    for right, wrong in (("use2-az1", "use1-az4"), ("48xlarge", "48xlrage"), ("40 GB/s", "40")):
        text = text.replace(right, wrong)
    assert problems(text) == [f"c.yaml{line.rpartition(' ')[0]}" for line in shown]
    assert all(line.endswith("]") for line in shown)
