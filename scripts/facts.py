"""Write the facts that can be written again from newer sources, and print what differs: `make facts`.

- The table of general instance types is written: from the answer of DescribeInstanceTypes that moto carries.
- Zones with GPU types, and Regions of services, are compared: with moto's offerings, and with the registry of
  CloudFormation as cfn-lint carries it.
- Versions of charts are compared with the newest tag of their repositories. Without network, that is printed instead.

`make lock` brings newer releases of moto and cfn-lint first. Nothing else is changed: each difference is reviewed, read
at its source, and written with the day.
"""

import gzip
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import cfnlint
import general_types
import moto

from ultracluster.catalogue.ec2 import OFFERED, REGIONS, is_local_zone
from ultracluster.catalogue.schedulers import hyperpod, pcs
from ultracluster.kubernetes._charts import CHARTS

_SERVICES: Mapping[str, tuple[str, frozenset[str]]] = {
    "AWS PCS": ("AWS::PCS::Cluster", pcs.REGIONS),
    "SageMaker HyperPod": ("AWS::SageMaker::Cluster", hyperpod.REGIONS),
}
_REPOSITORY = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")
_RELEASE = re.compile(r"refs/tags/v?(\d+)\.(\d+)\.(\d+)$")
_TIMEOUT_SECONDS = 30


def differences(pinned: Iterable[str], found: Iterable[str]) -> list[str]:
    """Return what is new as `+ NAME`, and what is gone as `- NAME`."""
    before, after = set(pinned), set(found)
    return [*(f"+ {name}" for name in sorted(after - before)), *(f"- {name}" for name in sorted(before - after))]


def registries() -> dict[str, set[str]]:
    """Return the resource types of CloudFormation by Region, for the Regions of this library that cfn-lint has."""
    folder = Path(cfnlint.__file__).parent / "data" / "schemas" / "providers"
    files = {region: folder / f"{region}.json" for region in REGIONS.values()}
    return {region: set(json.loads(path.read_bytes())) for region, path in files.items() if path.exists()}


def offered_zones() -> dict[str, set[str]]:
    """Return the zones that offer each GPU type of the catalogue, Local Zones left out: moto has none."""
    zones: dict[str, set[str]] = {name: set() for name in OFFERED}
    folder = Path(moto.__file__).parent / "ec2" / "resources" / "instance_type_offerings" / "availability-zone-id"
    for path in folder.glob("*.json.gz"):
        for item in json.loads(gzip.decompress(path.read_bytes())):
            if item["InstanceType"] in zones:
                zones[item["InstanceType"]].add(item["Location"])
    return zones


def tags(repository: str) -> str:
    """Return the tags of a Git repository, as `git ls-remote` prints them.

    Raises:
        OSError: If it cannot be reached.
    """
    command = ["git", "ls-remote", "--tags", "--refs", repository]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        raise OSError(f"no answer within {_TIMEOUT_SECONDS} s") from None
    if done.returncode:
        raise OSError(done.stderr.strip().splitlines()[-1])
    return done.stdout


def newest(listed: str) -> tuple[int, ...] | None:
    """Return the highest release among tags, or None; candidates and charts' own tags are no releases."""
    found = [tuple(map(int, match.groups())) for line in listed.splitlines() if (match := _RELEASE.search(line))]
    return max(found, default=None)


def chart_lines(read: Callable[[str], str] = tags) -> Iterator[str]:
    """Yield a line for each chart whose repository has a higher tag than the pinned version, and what was not read."""
    for name, chart in CHARTS.items():
        repository = _REPOSITORY.match(chart.source)
        assert repository, name
        try:
            release = newest(read(repository[0]))
        except OSError as error:
            yield f"? {name} and those after it were not read: {error}"
            return
        pinned = tuple(map(int, re.findall(r"\d+", chart.version)[:3]))
        if release and release > pinned:
            yield f"+ {name}: {chart.version} is pinned, and {'.'.join(map(str, release))} is tagged in {repository[0]}"


def report(read: Callable[[str], str] = tags) -> Iterator[tuple[str, list[str]]]:
    """Yield what was compared, and its differences."""
    known = registries()
    for service, (type, regions) in _SERVICES.items():
        found = {region for region, types in known.items() if type in types}
        # cfn-lint says nothing of a Region that it lacks.
        missing = [f"? {region}: cfn-lint has no registry of it" for region in sorted(regions - known.keys())]
        yield f"Regions of {service}", [*differences(regions & known.keys(), found), *missing]
    offered = offered_zones()
    for name, zones in OFFERED.items():
        yield f"zones of {name}", differences((zone for zone in zones if not is_local_zone(zone)), offered[name])
    yield "charts", list(chart_lines(read))


def main() -> None:
    """Write the table, and print the differences."""
    before, text = general_types.TABLE.read_text(), general_types.table()
    general_types.TABLE.write_text(text)
    changed = differences(before.splitlines(), text.splitlines())
    print(f"{general_types.TABLE.name}: {len(changed) or 'no'} changed lines; git diff shows them")
    for title, lines in report():
        print(f"{title}: {'as pinned' if not lines else ''}")
        for line in lines:
            print(f"  {line}")


if __name__ == "__main__":
    main()
