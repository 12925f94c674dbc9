"""The readers of the section `kubernetes` as pydantic types, each with the JSON schema of what it takes."""

from typing import Annotated, Literal

from ultracluster.clusterfile.readers import basic as basic_readers
from ultracluster.clusterfile.readers import kubernetes as readers
from ultracluster.clusterfile.types.reader import Reader, text_of
from ultracluster.hardware import eks

Version = Annotated[
    str,
    Reader(
        readers.version,
        anyOf=[{"enum": list(eks.VERSIONS)}, {"enum": [float(word) for word in eks.VERSIONS]}],
    ),
]
Endpoint = Annotated[
    readers.Endpoint,
    Reader(
        readers.endpoint,
        readers.write_endpoint,
        anyOf=[
            {"enum": [readers.PRIVATE, readers.OPEN]},
            {
                "type": "array",
                "minItems": 1,
                "maxItems": eks.PUBLIC_RANGES,
                "items": {"type": "string", "pattern": r"^[0-9.]{7,15}/[0-9]{1,2}$"},
            },
        ],
    ),
]
Principals = Annotated[
    tuple[str, ...],
    Reader(readers.principals, type="array", items={"type": "string", "pattern": f"^{readers.PRINCIPAL.pattern}$"}),
]
ScalingTier = Annotated[str, Reader(readers.scaling_tier, enum=list(eks.SCALING_TIERS))]
Scheduler = Annotated[
    Literal["kueue", "volcano", "kai"],
    Reader(
        basic_readers.word_of(readers.SCHEDULERS, "what schedules jobs on Kubernetes"), enum=list(readers.SCHEDULERS)
    ),
]
EfaWay = Annotated[
    Literal["device-plugin", "dranet"],
    Reader(
        basic_readers.word_of(readers.EFA_WAYS, "what hands EFA devices to pods, one of the two on a node,"),
        enum=list(readers.EFA_WAYS),
    ),
]
GpuWay = Annotated[
    Literal["device-plugin", "gpu-operator", "dra-driver"],
    Reader(basic_readers.word_of(readers.GPU_WAYS, "what hands GPUs to pods"), enum=list(readers.GPU_WAYS)),
]
AddOns = Annotated[
    dict[str, str],
    Reader(
        readers.add_ons,
        type="object",
        propertyNames={"pattern": f"^{readers.ADD_ON.pattern}$"},
        additionalProperties={"type": "string", "pattern": f"^({readers.ADD_ON_VERSION.pattern})$"},
    ),
]
Charts = Annotated[
    dict[str, str],
    Reader(
        readers.charts,
        type="object",
        propertyNames={"pattern": f"^{readers.ADD_ON.pattern}$"},
        additionalProperties={"type": "string", "pattern": f"^{readers.CHART_VERSION.pattern}$"},
    ),
]
TeamName = Annotated[str, text_of(readers.team_name, readers.DNS_LABEL, "research")]
ClusterName = Annotated[str, text_of(readers.cluster_name, readers.CLUSTER_NAME, "platform")]
ApiServer = Annotated[
    str, text_of(readers.api_server, readers.API_SERVER, "https://ABC.gr7.us-east-2.eks.amazonaws.com")
]
CertificateAuthority = Annotated[str, text_of(readers.certificate_authority, readers.BASE64, "LS0tLS1CRUdJTi...")]
