"""Rules of the directory of users."""

from collections.abc import Iterator

from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error
from ultracluster.clusterfile.sections._directory import Directories

_DIRECTORY = error("slurm-directory", "Users come from one directory, or from the list of the file.")
_HOME = error("slurm-directory-home", "Users of a directory have the same home on every node.")
_ROUTE = error(
    "slurm-directory-route", "A new VPC without internet access has no route to a directory.", acceptable=True
)
_PATH: Path = ("slurm", "directory")


def check_directory(draft: Draft) -> Iterator[Problem]:
    """Check the directory."""
    if draft.slurm.directory is None:
        return
    yield from _check_kinds(draft.slurm.directory)
    if draft.slurm.users:
        message = "gives all users, and users is a list of them; remove one of the two: a number would have two owners"
        yield _DIRECTORY(_PATH, message, at_key=True)
    if draft.storage.home is None:
        message = "gives users without homes, which each node would have of its own; write storage: {home: {}}"
        yield _HOME(_PATH, message, at_key=True)
    if not draft.network.internet and draft.network.existing is None:
        message = (
            "has its servers outside the new VPC of internet: false, which has no route to them. Use network.existing; "
            "or deploy the Network stack, connect its VPC to servers and DNS by peering or a transit gateway, "
            f"use an image with sssd-ldap and sssd-tools, and write accept: {{{_ROUTE.id}: the VPC is peered}}"
        )
        yield _ROUTE(_PATH, message, at_key=True)


def _check_kinds(section: Directories) -> Iterator[Problem]:
    if section.managed_ad and section.ldap:
        yield _DIRECTORY(
            (*_PATH, "ldap"), "is a second directory beside managed-ad; remove one of the two", at_key=True
        )
    if not section.managed_ad and not section.ldap:
        message = "names no directory; write managed-ad or ldap, with servers, base-dn, bind-dn and secret"
        yield _DIRECTORY(_PATH, message, at_key=True)
