"""Charts that a project publishes in its repository only: an archive of one commit of GitHub."""

import tarfile
import urllib.request
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from ultracluster.platform._bundle import Release
from ultracluster.platform._errors import ApplyError

_SECONDS = 60
_REMEDY = "check that this host reaches github.com, or put the chart beside the bundle as charts/NAME-VERSION.tgz"


def chart_directory(release: Release) -> Path:
    """Return the directory of the chart of a release, from the archive that it names.

    Raises:
        ApplyError: If the archive cannot be read, or does not have the chart.
    """
    assert release.archive is not None
    assert release.chart is not None
    subject = f"release {release.name} {release.version}"
    try:
        root = _unpacked(release.archive)
    except (OSError, tarfile.TarError) as error:
        raise ApplyError(release.phase, subject, f"{release.archive}: {error}", _REMEDY) from None
    # The one directory of the archive has the name of repository and commit.
    directory = next(iter(sorted(root.iterdir())), root) / release.chart
    if not (directory / "Chart.yaml").is_file():
        reason = f"{release.archive} has no chart in {release.chart}"
        raise ApplyError(release.phase, subject, reason, "render the bundle again with this release")
    return directory


def _is_inside(member: tarfile.TarInfo) -> bool:
    path = PurePosixPath(member.name)
    return (member.isfile() or member.isdir()) and not path.is_absolute() and ".." not in path.parts


@cache
def _unpacked(url: str) -> Path:
    """Return the directory of an archive, which is read once by each apply."""
    directory = Path(mkdtemp(prefix="ultracluster-charts-"))
    file = directory.with_suffix(".tar.gz")
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
        file.write_bytes(answer.read())
    with tarfile.open(file) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(directory, filter="data")
        else:
            # Python before 3.11.4, as Debian 12 has, cannot filter.
            archive.extractall(directory, [member for member in archive if _is_inside(member)])
    file.unlink()
    return directory
