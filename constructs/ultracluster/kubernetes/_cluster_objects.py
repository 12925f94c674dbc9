"""Objects of the whole cluster: storage classes, priorities, and images that nodes pull beforehand."""

import hashlib

from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import Platform

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
# The same as Kueue's classes for workloads.
_PRIORITIES = {
    "production": (10_000, "Jobs that others make room for."),
    "research": (1_000, "Jobs that may wait or be pushed out."),
}


def cluster_objects(platform: Platform) -> list[Object]:
    """Return the objects that belong to no team."""
    return [*_storage_classes(platform), *_priorities(), *_image_caches(platform)]


def _storage_classes(platform: Platform) -> list[Object]:
    """Return the classes of dynamic volumes.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html and
    https://github.com/kubernetes-sigs/aws-fsx-csi-driver, examples/kubernetes/dynamic_provisioning (read 2026-11-22)
    """
    dynamic = platform.dynamic_volumes
    if dynamic is None:
        return []
    classes = [
        make(
            "storage.k8s.io/v1",
            "StorageClass",
            "gp3",
            annotations={_DEFAULT_CLASS: "true"},
            provisioner="ebs.csi.aws.com",
            parameters={"encrypted": "true", "type": "gp3"},
            allowVolumeExpansion=True,
            # A volume is in one zone: that of the pod.
            volumeBindingMode="WaitForFirstConsumer",
        )
    ]
    if dynamic.lustre_subnet is not None and dynamic.lustre_security_group is not None:
        # Scratch: file systems of a job. The one of the cluster is for what must last.
        parameters = {
            "deploymentType": "SCRATCH_2",
            "fileSystemTypeVersion": "2.15",
            "securityGroupIds": dynamic.lustre_security_group,
            "subnetId": dynamic.lustre_subnet,
        }
        classes.append(
            make(
                "storage.k8s.io/v1",
                "StorageClass",
                "lustre-scratch",
                provisioner="fsx.csi.aws.com",
                parameters=parameters,
                mountOptions=["flock", "noatime"],
            )
        )
    return classes


def _priorities() -> list[Object]:
    """Return classes for pods; only the queue preempts, because a gang that lost a pod restarts as a whole."""
    return [
        make(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            name,
            value=value,
            description=description,
            preemptionPolicy="Never",
        )
        for name, (value, description) in _PRIORITIES.items()
    ]


def _image_caches(platform: Platform) -> list[Object]:
    """Return a DaemonSet for the GPU nodes of each architecture, which pulls images as soon as a node joins.

    The kubelet's garbage collection keeps images that containers use.
    https://kubernetes.io/docs/concepts/architecture/garbage-collection/#container-image-lifecycle (read 2026-11-22)
    """
    if not platform.images or not platform.gpu_groups:
        return []
    labels = {"app.kubernetes.io/name": "image-cache"}
    containers = [
        {
            "command": ["sleep", "infinity"],
            "image": image,
            "name": f"image-{hashlib.sha256(image.encode()).hexdigest()[:8]}",
            "resources": {"limits": {"memory": "16Mi"}, "requests": {"cpu": "1m", "memory": "16Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        }
        for image in platform.images
    ]
    spec = {
        "containers": containers,
        "automountServiceAccountToken": False,
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    # All nodes at once: a node that pulls runs no job that another image could disturb.
    update = {"rollingUpdate": {"maxUnavailable": "100%"}, "type": "RollingUpdate"}
    body = {"selector": {"matchLabels": labels}, "template": template, "updateStrategy": update}
    return [make("apps/v1", "DaemonSet", "image-cache", namespace="kube-system", spec=body)]
