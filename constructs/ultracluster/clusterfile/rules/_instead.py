"""Texts for the keys of another orchestrator: what to write instead. An asterisk is a name of the file.

A key without a row of its own follows that of the mapping above it.
"""

from collections.abc import Mapping

_SSH = "write slurm: {login: {ssh: {key-pair: NAME, from: [RANGE]}}}"
_NO_ACCOUNTING = "no equivalent, Kubernetes keeps no records of jobs; remove it"
_SACCTMGR = "accounts are created on the controller, which has the database"
_JOB_TIME = "no equivalent, a job limits itself by activeDeadlineSeconds; remove it"
_ACCESS = "permissions in the namespace of a team are RBAC; remove it"
_PRIORITY = "jobs name one of two priority classes, production and research; remove it"
_AGENT = "EKS's agent watches the nodes, and repairs them one at a time; remove it"
_INSTALLED = "no equivalent, nodes set themselves up at boot; remove it"
_NEW_ONLY = "no equivalent, the deployment creates the cluster of Slurm; remove it"
_GRES = "Slurm hands out devices by itself, as gres; remove it"
_EKS_SERVES = "EKS serves metrics of the control plane by itself; remove it"
_SPARE = "write kubernetes: {teams: {NAME: {nodes: {GROUP: COUNT}}}}"

_SLURM_ON_KUBERNETES: Mapping[str, str] = {
    "version": "kubernetes.version is that of Kubernetes; remove it",
    "size": "EKS sizes its control plane; remove it, or write kubernetes: {scaling-tier: tier-xl}",
    "accounting": _NO_ACCOUNTING,
    "scale-down-idle-time": "Karpenter ends idle nodes of groups with elastic: true; remove it",
    "accounting-purge-time": _NO_ACCOUNTING,
    "rest-api": "the API server replaces it; remove it, or write kubernetes: {public-access-cidrs: [RANGE]}",
    "metrics": _EKS_SERVES,
    "settings": "no equivalent, Kubernetes has no slurm.conf; remove it",
    "health": _AGENT,
    "imds": "pods do not reach the instance metadata, and get roles by Pod Identity; remove it",
    "logs": "write kubernetes: {logs: true}",
    "slurmdbd-settings": _NO_ACCOUNTING,
    "cgroup-settings": "no equivalent, the kubelet limits pods to what they request; remove it",
    "queues.*": _SPARE,
    "queues.*.priority": _PRIORITY,
    "queues.*.preempt": "jobs of production preempt those of research; remove it",
    "queues.*.max-time": _JOB_TIME,
    "queues.*.default-time": _JOB_TIME,
    "queues.*.accounts": _ACCESS,
    "queues.*.qos": _PRIORITY,
    "queues.*.billing-weights": _NO_ACCOUNTING,
    "queues.*.settings": "no equivalent, Kubernetes has no partitions; remove it",
    "accounts.*": _SPARE,
    "qos.*": _PRIORITY,
    "users.*": "people have IAM roles; remove it, and write those of administrators: kubernetes: {admins: [ARN]}",
    "directory": "people have IAM roles, of IAM Identity Center for example; remove it",
    "login.type": "people use kubectl, and system nodes run controllers: write kubernetes: {system: {type: TYPE}}",
    "login.count": "people use kubectl, and system nodes run controllers: write kubernetes: {system: {count: COUNT}}",
    "login.image": "system nodes have the image of EKS; remove it",
    "login.tags": "write kubernetes: {system: {tags: {NAME: VALUE}}}",
    "login.scripts": "no equivalent, put what nodes need into a DaemonSet; remove it",
    "login.ssh": "people reach the API server: write kubernetes: {public-access-cidrs: [RANGE], admins: [ARN]}",
}
_KUBERNETES_ON_SLURM: Mapping[str, str] = {
    "version": "slurm.version is that of Slurm; remove it",
    "release": "write the image of the nodes: image: ami-...",
    "public-access-cidrs": _SSH,
    "admins": "administrators are users: write slurm: {users: {NAME: {uid: 2001, admin: true}}}",
    "second-zone": "no equivalent, the controller is in one zone; remove it",
    "scaling-tier": "write slurm: {size: LARGE}",
    "support": "no equivalent, AWS PCS has one support period; remove it",
    "deletion-protection": "no equivalent, the stack with data has termination protection; remove it",
    "bin-packing": "no equivalent, Slurm places jobs by its own settings; remove it",
    "service-cidr": "no equivalent, Slurm has no Services; remove it",
    "system.type": "write slurm: {login: {type: TYPE}}",
    "system.count": "write slurm: {login: {count: COUNT}}",
    "system.tags": "write slurm: {login: {tags: {NAME: VALUE}}}",
    "add-ons.*": "no equivalent, what nodes need is in their image; remove it",
    "logs": "logs are kept by default; remove it, or write slurm: {logs: {retention: 90 d}}",
    "existing": _NEW_ONLY,
    "platform": _INSTALLED,
    "argo-cd": _INSTALLED,
    "scheduler": "Slurm is the scheduler; remove it",
    "teams.*": "write slurm: {accounts: {NAME: {fairshare: SHARES}}}",
    "teams.*.nodes": "a limit is one of GPUs: write slurm: {accounts: {NAME: {settings: {GrpTRES: gres/gpu=GPUS}}}}",
    "teams.*.members": "users have accounts: write slurm: {users: {NAME: {uid: 2001, accounts: [TEAM]}}}",
    "teams.*.weight": "write slurm: {accounts: {NAME: {fairshare: SHARES}}}",
    "teams.*.borrow": "accounts use idle nodes unless GrpTRES limits them; remove it",
    "efa": _GRES,
    "gpu": _GRES,
    "images": "no equivalent, jobs name their image: srun --container-image; remove it",
    "registry": "job files name images: ultracluster render --set image=REGISTRY/IMAGE; remove it",
    "charts.*": "no equivalent, Slurm has no charts; remove it",
    "ready-timeout": "no equivalent, a Slurm job starts once its nodes are ready; remove it",
}
_HYPERPOD_ON_SLURM: Mapping[str, str] = {
    "controller": "AWS runs the controller: write slurm: {size: LARGE}, or remove it",
    "deep-health-checks": "nodes are checked before each job by slurm: {health: true}, the default; remove it",
    "node-recovery": "remove it, or write slurm: {health: {replace: 2}}, which replaces faulty nodes",
    "strategy": "AWS PCS writes slurm.conf; remove it",
    "accounting": "AWS PCS keeps the database: slurm: {accounting: true}, the default; remove it",
    "checkpoint-memory": "no equivalent, jobs write checkpoints to the local disks or Lustre; remove it",
    "bucket": "no equivalent, there are no lifecycle scripts; remove it",
    "volume-key": "write encryption-key: ARN",
}
_HYPERPOD_ON_KUBERNETES: Mapping[str, str] = {
    **_HYPERPOD_ON_SLURM,
    "controller": "EKS runs the control plane; remove it, or write kubernetes: {scaling-tier: tier-xl}",
    "deep-health-checks": "no equivalent, dcgm.yaml and nccl.yaml of the job files test nodes; remove it",
    "node-recovery": _AGENT,
    "strategy": "no equivalent, Kubernetes has no slurm.conf; remove it",
    "accounting": _NO_ACCOUNTING,
}
#: By orchestrator of the file and section of another one.
INSTEAD: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "slurm": {"kubernetes": _KUBERNETES_ON_SLURM, "hyperpod": _HYPERPOD_ON_SLURM},
    "kubernetes": {"slurm": _SLURM_ON_KUBERNETES, "hyperpod": _HYPERPOD_ON_KUBERNETES},
    "hyperpod-slurm": {
        "kubernetes": {
            **_KUBERNETES_ON_SLURM,
            "release": "no equivalent, nodes have the image of HyperPod; remove it",
            "public-access-cidrs": "no equivalent, nodes are reached by Session Manager; remove it",
            "admins": "no equivalent, a session is one of an administrator; remove it",
            "scaling-tier": "the controller is a node: write hyperpod: {controller: m7i.8xlarge}",
            "support": "no equivalent, Slurm has the version of HyperPod's image; remove it",
            "teams.*": f"{_SACCTMGR}: sacctmgr add account NAME fairshare=SHARES; remove it",
            "teams.*.weight": f"{_SACCTMGR}: sacctmgr modify account NAME set fairshare=SHARES; remove it",
            "teams.*.nodes": f"{_SACCTMGR}: sacctmgr modify account NAME set GrpTRES=gres/gpu=GPUS; remove it",
            "teams.*.members": f"{_SACCTMGR}: sacctmgr add user NAME account=TEAM; remove it",
        }
    },
    "hyperpod-kubernetes": {
        "slurm": {
            **_SLURM_ON_KUBERNETES,
            "health": "HyperPod tests nodes, and replaces those whose hardware fails: hyperpod: {node-recovery: true}, "
            "the default; remove it",
        }
    },
}
_NODE_KEYS: Mapping[str, str] = {
    "canary": "no equivalent, EKS replaces one node first; remove it",
    "elastic": "nodes on demand or of Spot start for jobs by default; remove it",
    "min": "remove it, or write elastic: true, so that Karpenter launches nodes when pods need them",
    "os": "nodes have the system of their image; remove it",
    "pods": "no equivalent, nodes run no pods; remove it",
    "scripts": "put what nodes need into their image or a DaemonSet; remove it",
    "slurm": "no equivalent, Kubernetes has no slurm.conf; remove it",
    "taints": "jobs name their queue; remove it, and give the group a queue with accounts of its own",
    "update": "no equivalent, a node is replaced when its job has ended; remove it",
}
#: By orchestrator of the file: keys of a node group for nodes of another one.
NODE_KEYS: Mapping[str, Mapping[str, str]] = {
    "slurm": _NODE_KEYS,
    "kubernetes": _NODE_KEYS,
    "hyperpod-slurm": {
        **_NODE_KEYS,
        "elastic": "no equivalent, every node of a group runs; remove it",
        "taints": "jobs name their partition, and each group has one of its own; remove it",
        "update": "HyperPod updates its nodes itself, by aws sagemaker update-cluster-software; remove it",
    },
    "hyperpod-kubernetes": {
        **_NODE_KEYS,
        "canary": "no equivalent, HyperPod updates its nodes itself; remove it",
        "scripts": "nodes have the image of HyperPod, so put what they need into a DaemonSet; remove it",
    },
}
