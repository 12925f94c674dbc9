"""Generate the reference of the permissions of each role, from the stacks of examples."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from docs_reference.markdown import code, page, table
from ultracluster import clusterfile

_ROOT = Path(__file__).parents[2]
_EXAMPLES = {"Slurm": "slurm-512-gpus", "Kubernetes": "eks-512-gpus", "HyperPod with Slurm": "hyperpod-slurm"}
_ABOUT = """What each role of a cluster may do, from the stacks of three [examples](examples.md). More options of a
cluster file add permissions: `ultracluster render --templates` writes those of yours. A resource without an ARN is that
construct of the stacks. The last column is the module below `constructs/ultracluster` that names the action, if there
is one only. [Network and security](../guides/network.md#statements-on-all-resources) has the reasons of `*`."""
_ATTACHED = ("AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy")

Resources = Mapping[str, Mapping[str, Any]]


def permissions_page() -> str:
    """Page with a table for each role of each example."""
    # From tests/support, which `make docs-reference` and pytest have on the path.
    from support.templates import templates

    sections = []
    for title, example in _EXAMPLES.items():
        cluster = clusterfile.load(str(_ROOT / "examples" / f"{example}.yaml"))
        stacks = [template["Resources"] for template in templates(cluster).values()]
        sections += [
            f"## {title}: `{example}`",
            *_roles({id: it for stack in stacks for id, it in stack.items()}, cluster),
        ]
    return page("Permissions", _ABOUT, *sections)


def _roles(resources: Resources, cluster: clusterfile.ClusterFile) -> Iterator[str]:
    roles = [id for id, resource in resources.items() if resource["Type"] == "AWS::IAM::Role"]
    statements: dict[str, list[Mapping[str, Any]]] = {id: [] for id in roles}
    for id, resource in resources.items():
        properties = resource.get("Properties", {})
        for policy in properties.get("Policies", ()) if id in roles else ():
            statements[id] += policy["PolicyDocument"]["Statement"]
        if resource["Type"] in _ATTACHED:
            holders = json.dumps([properties.get("Roles"), properties.get("RoleName")])
            # A policy of another stack names the role by an output, whose name has the id of the role.
            for holder in [role for role in roles if role in holders] or [id]:
                statements.setdefault(holder, []).extend(properties["PolicyDocument"]["Statement"])
    for id, each in statements.items():
        managed = re.findall(
            r"policy/([\w/-]+)", json.dumps(resources[id].get("Properties", {}).get("ManagedPolicyArns"))
        )
        also = ["AWS's managed policies: " + ", ".join(map(code, managed)) + "."] if managed else []
        rows = [row for statement in each for row in _rows(statement, cluster)]
        yield "\n\n".join([f"### `{_plain(id)}`", *also, table(("actions", "resources", "module"), rows)]).rstrip()


def _rows(statement: Mapping[str, Any], cluster: clusterfile.ClusterFile) -> Iterator[tuple[str, str, str]]:
    resources = dict.fromkeys(_resource(resource, cluster) for resource in _listed(statement.get("Resource", "*")))
    effect = "" if statement["Effect"] == "Allow" else f"{statement['Effect']}: "
    keys = sorted({key for block in statement.get("Condition", {}).values() for key in block})
    conditions = f"; on condition of {', '.join(map(code, keys))}" if keys else ""
    by_module: dict[str, list[str]] = {}
    for action in _listed(statement.get("Action", statement.get("NotAction", ()))):
        by_module.setdefault(_module(action), []).append(f"`{action}`")
    for module, each in by_module.items():
        yield effect + ", ".join(each), " ".join(sorted(resources)) + conditions, module and f"`{module}`"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _resource(value: Any, cluster: clusterfile.ClusterFile) -> str:
    """Return the name of a construct, or an ARN without partition, Region, account and hashes."""
    text = json.dumps(value)
    tail = "/*" if '/*"' in text else ""
    for pattern in (
        r'"(?:Ref|Fn::GetAtt)": \[?"(?!AWS::)(\w+)"',
        r"(?:Exports|Publish)Output(?:FnGetAtt|Ref)(\w+?[0-9A-F]{8})",
    ):
        if construct := re.search(pattern, text):
            return f"`{_plain(construct[1])}{tail}`"
    parts = re.findall(r'"([^"]*)"', re.sub(r'\{"Ref": "AWS::\w+"\}', '"*"', text))
    arn = "".join(part for part in parts if part not in ("Fn::Join", "Fn::GetStackOutput"))
    for exact, short in (("arn:aws:", "arn:*:"), (cluster.name, "NAME"), (cluster.region, "*"), (cluster.account, "*")):
        arn = arn.replace(exact or "\0", short)
    return f"`{re.sub('[0-9a-f]{64}', 'HASH', arn)[:120]}`"


def _plain(id: str) -> str:
    """Return a logical id without its hash."""
    return re.sub(r"[0-9A-F]{8}$", "", id)


@cache
def _module(action: str) -> str:
    """Return the module that has an action as a text, if it is one."""
    modules = [path for path, text in _sources().items() if f'"{action}"' in text]
    return modules[0] if len(modules) == 1 else ""


@cache
def _sources() -> dict[str, str]:
    library = _ROOT / "constructs" / "ultracluster"
    paths = [path for path in sorted(library.rglob("*.py")) if "catalogue" not in path.parts]
    return {str(path.relative_to(library)): path.read_text(encoding="utf-8") for path in paths}
