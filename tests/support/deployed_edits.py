"""A cluster on a local cloud, and edits of it: compared, refused or deployed, as `ultracluster deploy` does."""

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from botocore.exceptions import ClientError

from cdk_rehearsal import guard
from cdk_rehearsal.deploy import AssembledStack, assembled, change_sets, comparison, protect
from cdk_rehearsal.rehearsal import Action, Entry
from support.rehearsal_tools import REGION, Stacks, Template, local_stacks
from support.templates import ACCOUNT, synth, templates
from ultracluster import clusterfile
from ultracluster.cli._cluster_stacks import belongs_to
from ultracluster.clusterfile import ClusterFile
from ultracluster.testing import IN_PLACE, TEMPLATE_RULES, UPDATE_RULES

#: Stack and logical id.
Place = tuple[str, str]
Templates = dict[str, Template]
COMPLETE = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
_STOPPED = {guard.Fate.REPLACED, guard.Fate.DELETED, guard.Fate.ORPHANED, guard.Fate.REFUSED}
_LOST = (Action.REPLACE, Action.DELETE, Action.RETAIN)
_BOOTSTRAP = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Decision of `ultracluster deploy` about an edit; the report is None if nothing of its cluster is deployed."""

    report: guard.Report | None
    refused: dict[str, str]

    @property
    def verdict(self) -> str:
        if self.report is None:
            return "new"
        if self.refused or not replace(self.report, running=False).ok:
            return "data"
        return "clean" if self.report.ok else "nodes"

    @property
    def nodes(self) -> set[Place]:
        """Groups whose nodes end."""
        groups = self.report.nodes if self.report else ()
        return {(group.stack, group.logical_id) for group in groups if group.fate.ends_nodes}


class DeployedCluster:
    """A cluster that is deployed, with stack policies. `restore` takes edits back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.cluster = clusterfile.loads(text, "c.yaml")
        self.base = templates(self.cluster)
        self.ids: dict[Place, str] = {}
        self._edit = (self.cluster, self.base)
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _start(self) -> None:
        self._exit.close()
        self._stacks: Stacks = self._exit.enter_context(local_stacks())
        self._deployed: Templates = {}
        version = {"Name": "/cdk-bootstrap/hnb659fds/version", "Value": "30", "Type": "String"}
        self._stacks.client("ssm").put_parameter(**version)
        place = {"LocationConstraint": REGION}
        self._stacks.client("s3").create_bucket(Bucket=_BOOTSTRAP, CreateBucketConfiguration=place)
        statuses = self.deploy(self.cluster)
        assert set(statuses.values()) == {"CREATE_COMPLETE"}, statuses
        assert not protect(_stacks_of(self.cluster), self._client)
        self._policies = {stack.name: stack.policy for stack in self._stacks.cloud.stacks.living()}
        self._edited = False
        self.ids = self.current_ids()

    def restore(self) -> None:
        """Deploy the cluster as it was; on a new local cloud, if the edit cannot be taken back."""
        if not self._edited:
            return
        stacks = self._stacks.cloud.stacks.living()
        for stack in stacks:
            stack.policy = None
            if stack.status == "UPDATE_ROLLBACK_COMPLETE":
                # Its template is that of the cluster, which CloudFormation takes for no update.
                stack.status = "UPDATE_COMPLETE"
        taken_back = set(self.deploy(self.cluster).values()) <= COMPLETE
        self.ids = self.current_ids()
        # What an edit retained stays beside it; if its name is taken, the cluster is not taken back.
        if not taken_back or set(self._deployed) != set(self.base):
            self._start()
            return
        for stack in stacks:
            stack.policy = self._policies[stack.name]
        self._edited = False

    def decide(self, edited: ClusterFile) -> Decision:
        """Compare an edit with what is deployed."""
        stacks = _stacks_of(edited)
        belongs = belongs_to(edited.name, [stack.name for stack in stacks])
        with TemporaryDirectory() as folder:
            sides = comparison(stacks, self._client, Path(folder), belongs=belongs)
            changes = change_sets(stacks, self._client, sides)
            assert not changes.missing, changes.missing
            if sides.empty:
                return Decision(report=None, refused=changes.refused)
            report = guard.compare(
                sides.deployed,
                sides.assembled,
                update_rules=UPDATE_RULES,
                in_place=IN_PLACE,
                template_rules=TEMPLATE_RULES,
                running=True,
                change_sets=changes.changes,
            )
        return Decision(report=report, refused=changes.refused)

    def deploy(self, cluster: ClusterFile, allow: tuple[str, ...] = ()) -> dict[str, str]:
        """Deploy stacks up to the first that fails, as the CDK CLI does, and return their statuses."""
        if allow:
            assert not protect(_stacks_of(cluster), self._client, allow=allow)
        statuses = {}
        self._edited = True
        for name, template in self._templates(cluster).items():
            statuses[name] = self._deploy_stack(name, template)
            if statuses[name] not in COMPLETE:
                break
        return statuses

    def _deploy_stack(self, name: str, template: Template) -> str:
        sections = {key: value for key, value in template.items() if key != "Resources"}
        try:
            if name not in self._deployed:
                self._stacks.create(template["Resources"], name, **sections)
            elif self._deployed[name] != template:
                self._stacks.update(name, template["Resources"], **sections)
        except ClientError as error:
            return str(error)
        # Not asked for by a request: each deployment has five stacks.
        (status,) = (stack.status for stack in self._stacks.cloud.stacks.living() if stack.name == name)
        if status in COMPLETE:
            self._deployed[name] = template
        return status

    def current_ids(self) -> dict[Place, str]:
        """Physical ids of the resources in the stacks of the cluster."""
        return {
            (stack.name, name): resource.physical_id
            for stack in self._stacks.cloud.stacks.living()
            if stack.name in self.base
            for name, resource in stack.resources.items()
        }

    def protected(self) -> set[Place]:
        """Resources that hold data, and groups of nodes."""
        return {(stack, id) for stack, template in self.base.items() for id in guard.protected_resources(template)}

    def replaced(self, edited: ClusterFile) -> set[Place]:
        """Resources that the guard expects to be replaced or deleted by an edit."""
        fates = guard.causes(self.base, self._templates(edited), update_rules=UPDATE_RULES)
        return {
            place for place, causes in fates.items() if any(cause.fate is not guard.Fate.UPDATED for cause in causes)
        }

    def stopped(self, decision: Decision, edited: ClusterFile) -> bool:
        """True if a plain `cdk deploy` of an edit is stopped: by a stack policy, the service, or an export in use.

        What deletes data in place, such as a shorter retention, is not.
        """
        if decision.report is None or decision.verdict != "data":
            return False
        new = self._templates(edited)
        findings = (*decision.report.findings, *decision.report.nodes)
        fates = {cause.fate for finding in findings if finding.stack in new for cause in finding.causes}
        # A stack that leaves the file stays, with what it imports.
        imported = {name for stack, old in self.base.items() if stack not in new for name in _imports(old)}
        exported = {output["Export"]["Name"] for each in new.values() for output in _exports(each)}
        return bool(fates & _STOPPED or imported - exported)

    def _templates(self, cluster: ClusterFile) -> Templates:
        """Read the templates of a cluster once for each edit."""
        if cluster is self.cluster:
            return self.base
        if cluster is not self._edit[0]:
            self._edit = (cluster, templates(cluster))
        return self._edit[1]

    def journal(self) -> list[Entry]:
        """Return everything that happened."""
        return self._stacks.cloud.journal.entries()

    def lost(self, since: int) -> set[Place]:
        """Return resources that were replaced, deleted, or left outside every stack."""
        return {(entry.stack, entry.logical_id) for entry in self.journal()[since:] if entry.action in _LOST}

    def _client(self, service: str, region: str | None) -> Any:
        return self._stacks.client(service)


def _imports(template: Template) -> list[str]:
    return re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(template))


def _exports(template: Template) -> list[Template]:
    return [output for output in template.get("Outputs", {}).values() if "Export" in output]


def _stacks_of(cluster: ClusterFile) -> list[AssembledStack]:
    return list(assembled(synth(cluster).directory))
