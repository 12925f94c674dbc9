"""Instance groups of SageMaker HyperPod, as the launch data that the service makes of them."""

from collections.abc import Iterator, Mapping
from typing import Any

HYPERPOD_CLUSTER = "AWS::SageMaker::Cluster"


def instance_groups(properties: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield name, EC2 type and launch data of each instance group of a cluster.

    HyperPod attaches the network interfaces itself, with the groups and subnets of `VpcConfig`. A training plan takes
    the place of a capacity reservation.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html (read
    2026-11-23)
    """
    from ultracluster.catalogue.ec2 import default_layout, interfaces, known_type

    for group in properties.get("InstanceGroups") or ():
        type = str(group.get("InstanceType", "")).removeprefix("ml.")
        vpc = group.get("OverrideVpcConfig") or properties.get("VpcConfig") or {}
        subnets = vpc.get("Subnets") or [None]
        record = known_type(type)
        rows = interfaces(record, default_layout(record)) if record else ()
        data: dict[str, Any] = {
            "NetworkInterfaces": [
                {
                    "NetworkCardIndex": row.card,
                    "DeviceIndex": row.device,
                    "InterfaceType": row.kind,
                    "Groups": vpc.get("SecurityGroupIds") or [],
                    "SubnetId": subnet,
                }
                for subnet in subnets[:1]
                for row in rows
            ]
        }
        if plan := group.get("TrainingPlanArn"):
            data["CapacityReservationSpecification"] = {"CapacityReservationTarget": {"CapacityReservationId": plan}}
        if "Spot" in (group.get("CapacityRequirements") or {}):
            data["InstanceMarketOptions"] = {"MarketType": "spot"}
        yield str(group.get("InstanceGroupName")), type, data
