"""Buckets of AWS that nodes read, for policies that allow no others."""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_VPC_ENDPOINTS = Source(
    "https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html "
    "https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html "
    "https://docs.aws.amazon.com/linux/al2023/ug/managing-repos-os-updates.html "
    "https://github.com/aws-samples/data-perimeter-policy-examples "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html",
    read_on="2026-11-22",
)
_VPC_INTERFACE_ENDPOINTS = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/vpc-interface-endpoints.html", read_on="2026-11-23"
)

# Layers of images in ECR: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html; packages of PCS:
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_installers.html; packages of Amazon Linux 2023:
# https://docs.aws.amazon.com/linux/al2023/ug/managing-repos-os-updates.html (all read 2026-11-22). The agents of
# Systems Manager and CloudWatch, and EC2 Image Builder: https://github.com/aws-samples/data-perimeter-policy-examples
# (service_owned_resources.md, 8e0d3c5, read 2026-11-23).
READ: Annotated[tuple[str, ...], Stated(_VPC_ENDPOINTS, columns="names of buckets")] = (
    "prod-{region}-starport-layer-bucket",
    "aws-pcs-repo-{region}",
    "aws-pcs-repo-public-keys-{region}",
    "al2023-repos-{region}-de612dc2",
    "al2023-{region}",
    "aws-ssm-{region}",
    "amazon-ssm-{region}",
    "amazon-ssm-packages-{region}",
    "{region}-birdwatcher-prod",
    "aws-ssm-distributor-file-{region}",
    "aws-ssm-document-attachments-{region}",
    "patch-baseline-snapshot-{region}",
    "amazoncloudwatch-agent",
    "amazoncloudwatch-agent-{region}",
    "ec2imagebuilder-toe-{region}-prod",
    "ec2imagebuilder-managed-resources-{region}-prod",
    # Installer of EFA, in us-west-2 (attributes of aws-parallelcluster-cookbook), and packages of the Lustre client, in
    # us-east-1: https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html (both read 2026-11-23)
    "aws-efa-installer",
    "fsx-lustre-client-repo",
    "fsx-lustre-client-repo-public-keys",
    # Not of AWS: layers of registry.k8s.io, which sends clients in AWS to the bucket of their Region. Without it, the
    # charts of Kubernetes get 403: https://github.com/prometheus-community/helm-charts/issues/2421 and
    # https://github.com/kubernetes/k8s.io (registry.k8s.io/hack/sync-gcs-s3.sh), both read 2026-11-26
    "prod-registry-k8s-io-{region}",
)
# Results of deployments.
SIGNALS: Annotated[str, Stated(_VPC_INTERFACE_ENDPOINTS, columns="name of a bucket")] = (
    "cloudformation-waitcondition-{region}"
)
