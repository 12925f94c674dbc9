"""Network policies of a team's pods: only DNS, AWS, and their own job are allowed.

Policies apply to TCP and UDP. EFA and NVLink bypass the kernel and every policy: jobs of two teams are isolated
there by whole-node pods and by the nodes' security group.
"""

from collections.abc import Mapping, Sequence

from ultracluster.catalogue.schedulers import hyperpod_kubernetes
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._reporting import from_collectors

_API = "networking.k8s.io/v1"
# Where pods fetch the credentials of their pod identity.
# https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html (read 2026-11-21)
_POD_IDENTITY = {"ipBlock": {"cidr": "169.254.170.23/32"}}


def team_policies(namespace: str) -> list[Object]:
    """Return policies that deny everything, then allow DNS, HTTPS, pod identity and the agent of the metrics."""
    dns = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
        "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
    }
    return [
        _policy("default-deny", namespace, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
        _egress("allow-dns", namespace, dns, [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]),
        # ECR, S3, the Kubernetes API; by address only: a NetworkPolicy has no names.
        _egress("allow-https", namespace, {"ipBlock": {"cidr": "0.0.0.0/0"}}, [{"port": 443, "protocol": "TCP"}]),
        _egress("allow-pod-identity", namespace, _POD_IDENTITY, [{"port": 80, "protocol": "TCP"}]),
        _policy(
            "allow-metrics",
            namespace,
            {"ingress": [from_collectors()], "podSelector": {}, "policyTypes": ["Ingress"]},
        ),
    ]


def job_policy(name: str, namespace: str, pods: Mapping[str, str], *, further: Sequence[Object] = ()) -> Object:
    """Allow traffic between the pods of one job on every port: NCCL and torchrun choose ports at run time."""
    each_other = [{"podSelector": {"matchLabels": dict(pods)}}]
    spec = {
        "egress": [{"to": each_other}],
        "ingress": [{"from": each_other}, *further],
        "podSelector": {"matchLabels": dict(pods)},
        "policyTypes": ["Ingress", "Egress"],
    }
    return _policy(f"job-{name}", namespace, spec)


def from_operator() -> list[Object]:
    """Return the ingress rule that allows the training operator of HyperPod to reach the agent of a pod."""
    operator = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": hyperpod_kubernetes.NAMESPACE}}}
    return [{"from": [operator], "ports": [{"port": hyperpod_kubernetes.AGENT_PORT, "protocol": "TCP"}]}]


def _egress(name: str, namespace: str, to: Object, ports: list[Object]) -> Object:
    spec = {"egress": [{"ports": ports, "to": [to]}], "podSelector": {}, "policyTypes": ["Egress"]}
    return _policy(name, namespace, spec)


def _policy(name: str, namespace: str, spec: Object) -> Object:
    return make(_API, "NetworkPolicy", name, namespace=namespace, spec=spec)
