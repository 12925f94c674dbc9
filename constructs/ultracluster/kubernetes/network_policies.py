"""What the pods of a team may talk to: nothing, but names, AWS, and their own job.

Policies rule TCP and UDP. EFA and NVLink go past the kernel and past every policy: what keeps jobs of two teams apart
there is that a pod has whole nodes, and the security group of the nodes.
"""

from collections.abc import Mapping

from ultracluster.kubernetes.objects import Object, make

_API = "networking.k8s.io/v1"
# Where pods fetch the credentials of their pod identity.
# https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html (read 2026-11-21)
_POD_IDENTITY = {"ipBlock": {"cidr": "169.254.170.23/32"}}


def team_policies(namespace: str) -> list[Object]:
    """Deny everything, then allow names, HTTPS and the credentials of pod identity."""
    dns = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
        "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
    }
    return [
        _policy("default-deny", namespace, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
        _egress("allow-dns", namespace, dns, [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]),
        # ECR, S3, the Kubernetes API; by address only, which is all that a NetworkPolicy knows.
        _egress("allow-https", namespace, {"ipBlock": {"cidr": "0.0.0.0/0"}}, [{"port": 443, "protocol": "TCP"}]),
        _egress("allow-pod-identity", namespace, _POD_IDENTITY, [{"port": 80, "protocol": "TCP"}]),
    ]


def job_policy(name: str, namespace: str, pods: Mapping[str, str]) -> Object:
    """Let the pods of one job talk to each other, on every port: NCCL and torchrun choose theirs as they start.

    Args:
        name: Name of the job.
        namespace: Where it runs.
        pods: The labels that all of its pods have, and no others.
    """
    each_other = [{"podSelector": {"matchLabels": dict(pods)}}]
    spec = {
        "egress": [{"to": each_other}],
        "ingress": [{"from": each_other}],
        "podSelector": {"matchLabels": dict(pods)},
        "policyTypes": ["Ingress", "Egress"],
    }
    return _policy(f"job-{name}", namespace, spec)


def _egress(name: str, namespace: str, to: Object, ports: list[Object]) -> Object:
    spec = {"egress": [{"ports": ports, "to": [to]}], "podSelector": {}, "policyTypes": ["Egress"]}
    return _policy(name, namespace, spec)


def _policy(name: str, namespace: str, spec: Object) -> Object:
    return make(_API, "NetworkPolicy", name, namespace=namespace, spec=spec)
