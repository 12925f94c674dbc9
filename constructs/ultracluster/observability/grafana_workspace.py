"""A workspace of Amazon Managed Grafana."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_grafana as l1
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.hardware.grafana import (
    LEAST_SUBNETS,
    MANAGED_GRAFANA_REGIONS,
    MANAGED_GRAFANA_VERSION,
    MOST_SUBNETS,
)
from ultracluster.observability.checks import GRAFANA_NAME, HTTPS_URL, text_problem

_VERSION = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saml:
    """How people sign in by SAML 2.0.

    Args:
        metadata_url: Where the identity provider publishes its metadata.
        role_attribute: The attribute of an assertion that holds a person's roles.
        admin_roles: Roles that administer Grafana.
        editor_roles: Roles that edit. Everybody else views.
    """

    metadata_url: str
    role_attribute: str
    admin_roles: Sequence[str]
    editor_roles: Sequence[str] = ()


class GrafanaWorkspace(Construct):
    """A workspace whose role may query what it is granted, and nothing else.

    Args:
        name: Name that people see.
        saml: How people sign in. Default: by IAM Identity Center, which must be enabled in the organization or the
            account; assign people to the workspace afterwards, which CloudFormation can't (2026-11-21).
        version: Version of Grafana; it can be raised and never lowered. Default: that of the dashboards.
        subnets: Private subnets in zones of their own, 2 to 6, each with 15 free addresses: all traffic of the
            workspace to its data sources then takes this way. Default: the workspace reaches AWS's services without.
        security_groups: Groups of its interfaces there. Must be said with `subnets`.

    Raises:
        ValueError: When the region has no Amazon Managed Grafana, subnets and groups don't fit, or something is not
            what the service takes; all at once.

    See: https://docs.aws.amazon.com/grafana/latest/userguide/AMG-configure-vpc.html and
    https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-permissions.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        saml: Saml | None = None,
        version: str = MANAGED_GRAFANA_VERSION,
        subnets: Sequence[ec2.ISubnet] = (),
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> None:
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        problems = [
            *text_problem("name", name, GRAFANA_NAME, "1 to 255 letters, digits and . - _ ~"),
            *text_problem("version", version, _VERSION, f"a version such as {MANAGED_GRAFANA_VERSION}"),
            *_problems(stack.region, len(subnets), len(security_groups)),
            *(() if saml is None else _saml_problems(saml)),
        ]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        workspaces = stack.format_arn(service="grafana", resource="/workspaces", resource_name="*")
        #: The role that the workspace takes; grant it what dashboards query.
        self.role: iam.IRole = iam.Role(
            self,
            "Role",
            description="What the dashboards query",
            assumed_by=iam.ServicePrincipal(
                "grafana.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": stack.account},
                    "ArnLike": {"aws:SourceArn": workspaces},
                },
            ),
        )
        self.resource = l1.CfnWorkspace(
            self,
            "Resource",
            name=name,
            account_access_type="CURRENT_ACCOUNT",
            authentication_providers=["AWS_SSO"] if saml is None else ["SAML"],
            permission_type="CUSTOMER_MANAGED",
            role_arn=self.role.role_arn,
            grafana_version=version,
            plugin_admin_enabled=False,
            saml_configuration=None if saml is None else _saml(saml),
            vpc_configuration=l1.CfnWorkspace.VpcConfigurationProperty(
                subnet_ids=[subnet.subnet_id for subnet in subnets],
                security_group_ids=[group.security_group_id for group in security_groups],
            )
            if subnets
            else None,
        )
        #: Its id, `g-...`.
        self.workspace_id: str = self.resource.attr_id
        #: Where people find it.
        self.url = f"https://{self.resource.attr_endpoint}"


def _problems(region: str, subnets: int, groups: int) -> list[str]:
    problems = []
    if not cdk.Token.is_unresolved(region) and region not in MANAGED_GRAFANA_REGIONS:
        problems.append(
            f"{region} has no Amazon Managed Grafana; take SelfHostedGrafana, or a workspace in one of "
            f"{', '.join(sorted(MANAGED_GRAFANA_REGIONS))}"
        )
    if subnets and not LEAST_SUBNETS <= subnets <= MOST_SUBNETS:
        problems.append(f"subnets must be {LEAST_SUBNETS} to {MOST_SUBNETS}, in zones of their own, got {subnets}")
    if bool(subnets) != bool(groups):
        problems.append("subnets and security_groups go together")
    return problems


def _saml_problems(saml: Saml) -> Iterator[str]:
    yield from text_problem("saml.metadata_url", saml.metadata_url, HTTPS_URL, "an address that begins with https://")
    if not saml.admin_roles:
        yield "saml.admin_roles must name a role: without one nobody administers Grafana"
    if not all((saml.role_attribute, *saml.admin_roles, *saml.editor_roles)):
        yield "saml: an attribute or a role has no name"


def _saml(saml: Saml) -> l1.CfnWorkspace.SamlConfigurationProperty:
    return l1.CfnWorkspace.SamlConfigurationProperty(
        idp_metadata=l1.CfnWorkspace.IdpMetadataProperty(url=saml.metadata_url),
        assertion_attributes=l1.CfnWorkspace.AssertionAttributesProperty(role=saml.role_attribute),
        role_values=l1.CfnWorkspace.RoleValuesProperty(
            admin=list(saml.admin_roles), editor=list(saml.editor_roles) or None
        ),
    )
