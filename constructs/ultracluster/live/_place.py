"""The account itself: credentials, zones, services and instance types."""

from collections.abc import Iterable, Iterator

from ultracluster.catalogue.ec2 import BUILDERS
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding

IDENTITY = Call(service="sts", operation="get_caller_identity", action="")
_SERVICES = Call(service="ssm", operation="get_parameters", action="ssm:GetParameters")
_ZONES = Call(service="ec2", operation="describe_availability_zones", action="ec2:DescribeAvailabilityZones")
_OFFERINGS = Call(
    service="ec2",
    operation="describe_instance_type_offerings",
    action="ec2:DescribeInstanceTypeOfferings",
    result="InstanceTypeOfferings",
)
# https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-public-parameters-global-infrastructure.html
# (read 2026-11-23)
_REGION_SERVICES = "/aws/service/global-infrastructure/regions/{region}/services/{service}"


def _account(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    identity = account.ask(IDENTITY)
    here, requested = identity["Account"], cluster.account
    if requested is not None and requested != here:
        yield check.bad(
            f"the credentials are of account {here}, and the file is for {requested}",
            f"use credentials of {requested}, such as AWS_PROFILE=NAME, or change `account`",
        )
        return
    yield check.good(f"account {here}, as {identity['Arn'].rpartition(':')[2]}")


def _services_of(cluster: ClusterFile) -> list[str]:
    """Return the services of a cluster, as the public parameters name them."""
    names = [cluster.traits.facts]
    if cluster.storage.lustre is not None:
        names.append("fsx-lustre")
    if cluster.storage.home is not None and cluster.storage.home.type == "openzfs":
        names.append("fsx-openzfs")
    if cluster.observability.profile != "none":
        names.append("aps")
    if cluster.grafana == "managed":
        names.append("grafana")
    return names


def _service_parameters(cluster: ClusterFile) -> list[str]:
    return [_REGION_SERVICES.format(region=cluster.region, service=name) for name in _services_of(cluster)]


def _services(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    answer = account.ask(_SERVICES, Names=_service_parameters(cluster))
    missing = [name.rpartition("/")[2] for name in answer["InvalidParameters"]]
    for name in missing:
        yield check.bad(f"AWS does not list the service {name} in {cluster.region}", "choose another `region`")
    if good := [name for name in _services_of(cluster) if name not in missing]:
        yield check.good(f"{cluster.region} has {', '.join(good)}")


def _used_zones(cluster: ClusterFile) -> list[str]:
    zones = [group.zone for group in cluster.node_groups]
    if cluster.network.existing is None:
        zones.append(cluster.control_plane_zone)
    return list(dict.fromkeys((cluster.zone, *zones)))


def _zones(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    answer = account.ask(_ZONES, AllAvailabilityZones=True)
    zones = {zone["ZoneId"]: zone for zone in answer["AvailabilityZones"]}
    for requested in _used_zones(cluster):
        zone = zones.get(requested)
        if zone is None:
            yield check.bad(
                f"{account.region} has no zone {requested} for this account; it has {', '.join(sorted(zones))}",
                "change `zone`",
            )
        elif zone.get("OptInStatus") == "not-opted-in":
            group = zone["GroupName"]
            yield check.bad(
                f"the account has not opted in to {requested} ({zone['ZoneName']})",
                f"aws ec2 modify-availability-zone-group --region {account.region} --group-name {group} "
                "--opt-in-status opted-in",
            )
        elif zone["State"] != "available":
            yield check.doubt(f"{requested} is {zone['State']}", "wait, or choose another zone")
        else:
            yield check.good(f"{requested} is {zone['ZoneName']} in this account")


def _types_by_zone(cluster: ClusterFile) -> dict[str, list[str]]:
    """Return the zones in which each instance type is launched, those that build images included."""
    pairs = [(group.instance_type.name, group.zone) for group in cluster.node_groups]
    if cluster.service_count:
        pairs.append((cluster.service_type.name, cluster.zone))
    pairs += [(BUILDERS[architecture].type, cluster.control_plane_zone) for architecture in cluster.built_images]
    types: dict[str, list[str]] = {}
    for name, zone in dict.fromkeys(pairs):
        types.setdefault(name, []).append(zone)
    return types


def _types(check: Check, cluster: ClusterFile, account: Account) -> Iterable[Finding]:
    types = _types_by_zone(cluster)
    offered: dict[str, list[str]] = {}
    for entry in account.pages(
        _OFFERINGS,
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": sorted(types)}],
    ):
        offered.setdefault(entry["InstanceType"], []).append(entry["Location"])
    for name, zones in types.items():
        where = sorted(offered.get(name, []))
        for zone in zones:
            if zone in where:
                yield check.good(f"EC2 offers {name} in {zone}")
            else:
                others = f"only in {', '.join(where)}" if where else f"nowhere in {account.region}"
                builds = name in {BUILDERS[architecture].type for architecture in cluster.built_images}
                fix = "name an existing image" if builds else "change `zone`, `region` or the type"
                yield check.bad(f"EC2 offers {name} {others}, not in {zone}", fix)


def _service_arns(cluster: ClusterFile) -> list[str]:
    return [arn(cluster, "ssm", f"parameter{name}", owner="") for name in _service_parameters(cluster)]


CHECKS = (
    Check(
        id="live-account",
        reason="The credentials must be of the account of the file.",
        run=_account,
        calls=(IDENTITY,),
    ),
    Check(
        id="live-service",
        reason="Not every service is available in every Region.",
        run=_services,
        calls=(_SERVICES,),
        resources=lambda cluster: {_SERVICES: _service_arns(cluster)},
    ),
    Check(
        id="live-zone",
        reason="A zone must exist for the account, and an account must opt in to a Local Zone.",
        run=_zones,
        calls=(_ZONES,),
    ),
    Check(
        id="live-instance-type",
        reason="EC2 offers each instance type in some zones only.",
        run=_types,
        calls=(_OFFERINGS,),
    ),
)
