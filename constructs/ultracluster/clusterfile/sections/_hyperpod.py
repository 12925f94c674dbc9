"""The section `hyperpod`: SageMaker HyperPod, beside Slurm or Kubernetes."""

from typing import Annotated

from pydantic import Field

from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._nodes import InstanceTypeName
from ultracluster.clusterfile.sections._section import Section

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html (read 2026-11-23)
_BUCKET = r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]"
_HOST = r"[a-zA-Z0-9]([a-zA-Z0-9.-]{0,253}[a-zA-Z0-9])?"
_SECRET = r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+"
_MEMORY = hyperpod_kubernetes.CHECKPOINT_MEMORY
BucketName = Annotated[str, w.pattern(_BUCKET, "the name of a bucket, without dots", "sagemaker-llama-scripts")]
Host = Annotated[str, w.pattern(_HOST, "a host name", "slurm.cluster-abc.us-east-2.rds.amazonaws.com")]
SecretArn = Annotated[
    str,
    w.pattern(
        _SECRET,
        "the ARN of a secret",
        "arn:aws:secretsmanager:us-east-2:123456789012:secret:slurm-AbCdEf",
    ),
]
CheckpointMemory = Annotated[int, w.whole(_MEMORY[0], _MEMORY[-1], example=40)]
Strategy = Annotated[str, w.choice(hyperpod.SLURM_STRATEGIES, "a strategy of HyperPod for slurm.conf")]


class Accounting(Section):
    """An existing MySQL database of Slurm's accounting."""

    endpoint: Host = Field(description="Host name, which the nodes reach.")
    secret: SecretArn = Field(description="ARN of the secret with user name and password, which the controller reads.")
    key: t.KeyArn | None = Field(default=None, description="KMS key of the secret. Default: aws/secretsmanager.")


class HyperPod(Section):
    """SageMaker HyperPod, beside Slurm or Kubernetes."""

    controller: InstanceTypeName = Field(
        default="m7i.4xlarge", description="EC2 instance type of the controller node of Slurm."
    )
    deep_health_checks: t.Flag = Field(
        default=True,
        description="Whether a node with GPUs is tested before its first job: GPUs, and EFA and NCCL between nodes. "
        "It then takes an hour or more.",
    )
    node_recovery: t.Flag = Field(
        default=True, description="Whether HyperPod reboots or replaces nodes whose hardware fails."
    )
    strategy: Strategy | None = Field(
        default=None,
        description="What keeps the partitions of slurm.conf. Default: continuous provisioning, which merges them, "
        "starts with the nodes that there are, and retries the others.",
    )
    accounting: Accounting | None = Field(
        default=None, description="Database of Slurm's accounting. Default: one on the controller."
    )
    checkpoint_memory: CheckpointMemory | None = Field(
        default=None,
        description="Percentage of the memory of nodes that managed tiered checkpoints use, with Kubernetes. Default: "
        "none; pods have all memory.",
    )
    bucket: BucketName | None = Field(
        default=None, description="Existing bucket for lifecycle scripts, named sagemaker-... Default: a new one."
    )
    volume_key: t.KeyArn | None = Field(
        default=None,
        description="KMS key of the volumes of the nodes, which an instance group keeps. Default: the service's own.",
    )
