"""The age of the facts, as data, agrees with the dates beside the facts."""

import re
from datetime import date

import pytest

from support import ROOT
from ultracluster.catalogue import AS_OF

MODULES = {
    "ec2": "ec2/_*.py",
    "lustre": "storage/_lustre*.py",
    "openzfs": "storage/_openzfs.py",
    "pcs": "schedulers/_pcs.py",
    "eks": "schedulers/_eks*.py",
    "hyperpod": "schedulers/_hyperpod.py",
    "monitoring": "monitoring/_*.py",
    "training": "training/_*.py",
}


@pytest.mark.parametrize(("topic", "glob"), MODULES.items())
def test_the_age_of_a_topic_is_that_of_its_oldest_fact(topic: str, glob: str) -> None:
    files = list((ROOT / "constructs" / "ultracluster" / "catalogue").glob(glob))
    dates = {
        result for file in files for result in re.findall(r'read(?: on |_on="| )(20\d\d-\d\d-\d\d)', file.read_text())
    }
    assert AS_OF[topic] == min(map(date.fromisoformat, dates))
    assert AS_OF.keys() == MODULES.keys()
