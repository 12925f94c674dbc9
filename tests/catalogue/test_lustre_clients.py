"""General types that use a Lustre file system over EFA: https://docs.aws.amazon.com/fsx/latest/LustreGuide/
configure-efa-clients.html (read 2026-11-27)."""

import pytest

from support.clusterfile_data import GOOD, bent
from ultracluster.boot import LustreClient
from ultracluster.catalogue.ec2 import general_type_names, instance_type
from ultracluster.clusterfile import loads


@pytest.mark.parametrize(
    ("name", "interfaces"),
    [
        *(("g6.8xlarge", 1), ("g6e.12xlarge", 1), ("g6e.48xlarge", 2), ("g7.48xlarge", 2), ("g7e.8xlarge", 1)),
        *(("hpc7a.96xlarge", 2), ("trn1.32xlarge", 2), ("m6i.32xlarge", 1), ("i7ie.48xlarge", 1)),
        # Nitro v3, Trn2, and a size without EFA.
        *(("g5.48xlarge", None), ("c5n.18xlarge", None), ("trn2.48xlarge", None), ("g6e.4xlarge", None)),
    ],
)
def test_types_of_nitro_v4_and_later_use_as_many_interfaces_as_the_tool_of_aws(
    name: str, interfaces: int | None
) -> None:
    record = instance_type(name)
    assert record.lustre_efa_interfaces == interfaces
    assert LustreClient().connections(record) == (interfaces or 0)


def test_no_type_uses_more_interfaces_than_it_has() -> None:
    for record in map(instance_type, general_type_names()):
        assert (record.lustre_efa_interfaces or 0) <= record.max_efa


def test_nodes_of_g6e_set_efa_up() -> None:
    cluster = loads(
        bent("p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0", "g6e.48xlarge, count: 4", GOOD), "c"
    )
    assert cluster.lustre_efa
    assert cluster.efa_clients[0][0].lustre_efa_interfaces == 2
