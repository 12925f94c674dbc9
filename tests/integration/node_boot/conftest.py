"""Machines in a real root file system, and publishers of their software."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.root_file_system import Machine
from support.root_file_system.publishers import World
from ultracluster.catalogue.ec2 import image_software as software


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    created = World(tmp_path_factory.mktemp("publishers"))
    yield created
    created.server.close()


@pytest.fixture
def machine(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(software, "ARTEFACTS", world.artefacts)
    world.server.requests.clear()
    return world.machine(tmp_path / "machine")
