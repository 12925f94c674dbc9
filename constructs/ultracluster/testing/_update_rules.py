"""Plug-ins for `cdk_rehearsal`: updates that services reject, and updates that nodes take over in place."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_Properties = Mapping[str, Any]


def _file_system(old: _Properties, new: _Properties) -> dict[str, str]:
    # Imported on use: each pytest run loads this package, because it holds a pytest plugin.
    from ultracluster.planning.lustre import update_problems

    return update_problems(old, new)


#: Argument `update_rules` of `guard.compare`, `rehearse` and `LocalCloud`.
UPDATE_RULES: Mapping[str, tuple[Callable[[_Properties, _Properties], Mapping[str, str]], ...]] = MappingProxyType(
    {"AWS::FSx::FileSystem": (_file_system,)}
)


def _noticed_file_system(old: _Properties, new: _Properties) -> dict[str, str]:
    from ultracluster.planning.lustre import update_effects

    return update_effects(old, new)


def _node_scripts(old: _Properties, new: _Properties) -> dict[str, str]:
    from ultracluster.boot import UPDATE_MINUTES, node_scripts_parameter

    name = old.get("Name")
    if not isinstance(name, str) or not re.fullmatch(node_scripts_parameter("[^/]+"), name):
        return {}
    if old.get("Value") == new.get("Value", old.get("Value")):
        return {}
    return {"Value": f"all nodes have its checks and collectors within {UPDATE_MINUTES} minutes; none is replaced"}


def _hyperpod_scripts(old: _Properties, new: _Properties) -> dict[str, str]:
    from ultracluster.boot import hyperpod_parameter

    name = old.get("Name")
    if not isinstance(name, str) or not re.fullmatch(hyperpod_parameter("[^/]+", "[^/]+"), name):
        return {}
    if old.get("Value") == new.get("Value", old.get("Value")):
        return {}
    what = "nodes that start from now on run these scripts, and running nodes keep what they have, mounts included"
    # Jobs that wait, and accounting, are on the disks of a controller.
    replaced = (
        "; to have one state, aws sagemaker batch-replace-cluster-nodes, 25 nodes a call, after an update of the "
    )
    remedy = "" if name.endswith("/controller") else f"{replaced}software"
    return {"Value": what + remedy}


def _drain(old: _Properties, new: _Properties) -> dict[str, str]:
    before, after = (re.fullmatch(r"at\((.*)\)", str(side.get("ScheduleExpression"))) for side in (old, new))
    target = str((old.get("Target") or {}).get("Arn"))
    if before is None or target.endswith(":sns:publish") or (after and before[1] == after[1]):
        return {}
    what = "what it does before a Capacity Block ends, such as the drain of its nodes, was due at " + before[1]
    effect = f"happens at {after[1]} now" if after else "does not happen; right if the nodes leave too"
    return {"ScheduleExpression": f"{what} UTC, and {effect}"}


def _subscription(old: _Properties, new: _Properties) -> dict[str, str]:
    if old.get("Protocol") != "email" or old.get("Endpoint") == new.get("Endpoint"):
        return {}
    return {
        "Endpoint": f"{old.get('Endpoint')} gets no more messages of this topic; a new address gets none until it "
        "confirms the subscription"
    }


#: Argument `in_place` of `guard.compare`.
IN_PLACE: Mapping[str, tuple[Callable[[_Properties, _Properties], Mapping[str, str]], ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (_noticed_file_system,),
        "AWS::SSM::Parameter": (_node_scripts, _hyperpod_scripts),
        "AWS::Scheduler::Schedule": (_drain,),
        "AWS::SNS::Subscription": (_subscription,),
    }
)
