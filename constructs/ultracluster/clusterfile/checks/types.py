"""Whether the instance types that a file names are there, and those that it declares are whole."""

from collections.abc import Iterator

from ultracluster.clusterfile.checks.counts import check_counts
from ultracluster.clusterfile.draft import Draft
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.hardware import InstanceType, UltraServer, interfaces
from ultracluster.planning import OnDemand, check_sold


def check_types(draft: Draft) -> Iterator[Problem]:
    """Everything that is wrong with types and with how many nodes of them are wanted."""
    servers: dict[str, str] = {}
    for name, declared in draft.types.items():
        for own in declared.ultraservers or {}:
            if servers.setdefault(own, name) != name:
                message = f"is an UltraServer of {servers[own]} too; give one of the two another name"
                yield Problem(path=("types", name, "ultraservers", own), message=message, at_key=True)
        if missing := declared.missing():
            message = f"needs {', '.join(missing)} as well, or like: a type of the catalogue that it is like"
            yield Problem(path=("types", name), message=message)
            continue
        try:
            declared.record(name)
        except ValueError as error:
            yield Problem(path=("types", name, "like"), message=str(error))
    uses: dict[Path, str] = {("nodes", name, "type"): type for name, type in draft.named.items()}
    if draft.service_nodes is not None:
        uses[*draft.service_path, "type"] = draft.service_nodes.type
    for path, type in uses.items():
        try:
            record, server = draft.catalogue.look_up(type)
        except ValueError as error:
            # A type whose declaration is wrong is told there.
            wrong = draft.declared - draft.catalogue.declared.keys()
            if type not in draft.declared and not (type.startswith("u-") and wrong):
                yield Problem(path=path, message=str(error))
            continue
        if path[0] != "nodes":
            yield from (Problem(path=path, message=message) for message in _check_service(record, server))
        section = draft.sections.get(str(path[1]))
        if path[0] == "nodes" and section is not None:
            yield from check_counts(str(path[1]), section, record, server)


def _check_service(record: InstanceType, server: UltraServer | None) -> Iterator[str]:
    if server is not None:
        yield f"{server.name} is an UltraServer; nodes beside the node groups need no GPU"
        return
    yield from check_sold(record, OnDemand())
    try:
        interfaces(record)
    except ValueError as error:
        yield str(error)
