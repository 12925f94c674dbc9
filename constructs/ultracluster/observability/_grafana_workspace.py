"""A workspace of Amazon Managed Grafana."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_grafana as l1
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.catalogue.ec2 import domain_of
from ultracluster.catalogue.monitoring import (
    LEAST_SUBNETS,
    MANAGED_GRAFANA_VERSION,
    MOST_SUBNETS,
    NEW_GRAFANA_REGIONS,
)
from ultracluster.network import check_same_vpc
from ultracluster.observability._checks import GRAFANA_ID, GRAFANA_NAME, HTTPS_URL, region_problem
from ultracluster.planning import checked, known, text_problem
from ultracluster.rules import Refusal, error

_REGION = error("grafana-managed-region", "Amazon Managed Grafana is not available in every Region.")
_NETWORK = error("grafana-network", "A workspace in a VPC needs subnets in different zones, and security groups.")
_SAML = error("grafana-saml-roles", "SAML needs a role for administrators, and a name for every attribute and role.")
_VERSION = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Saml:
    """Sign-in by SAML 2.0.

    Args:
        metadata_url: URL of the metadata of the identity provider.
        role_attribute: Attribute of an assertion that holds the roles of a user.
        email_attribute: Attribute of an assertion that holds the mail address. Default: the one that Grafana expects.
        admin_roles: Roles with the Grafana role Admin.
        editor_roles: Roles with the Grafana role Editor. All other users are viewers.
    """

    metadata_url: str
    role_attribute: str
    admin_roles: Sequence[str]
    editor_roles: Sequence[str] = ()
    email_attribute: str | None = None


class IGrafanaWorkspace(cdk.IResource, iam.IGrantable, Protocol):
    """A workspace of Amazon Managed Grafana. As a principal of grants it is its role."""

    @property
    def workspace_id(self) -> str:
        """Id, `g-...`."""

    @property
    def url(self) -> str:
        """URL of the workspace."""


@jsii.implements(iam.IGrantable)
class _GrafanaWorkspaceBase(cdk.Resource):
    workspace_id: str
    url: str
    #: Role of the workspace. None: not known.
    role: iam.IRole | None = None

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role of the workspace."""
        unknown = cast(iam.IPrincipal, iam.UnknownPrincipal(resource=self))
        return unknown if self.role is None else self.role.grant_principal


class GrafanaWorkspace(_GrafanaWorkspaceBase):
    """A workspace of Amazon Managed Grafana, whose role has the permissions that are granted to it, and no others.

    As a principal of grants it is its role: `workspace.grants.query(grafana)`.

    Args:
        name: Display name.
        saml: Sign-in by SAML 2.0. Default: IAM Identity Center, which must be enabled in the organization or the
            account; assign users to the workspace afterwards, which CloudFormation cannot do (2026-11-21).
        version: Version of Grafana; it can be raised and never lowered. Default: that of the dashboards.
        subnets: Private subnets in different zones, 2 to 6, each with 15 free addresses, for all traffic of the
            workspace to its data sources. Default: the workspace reaches AWS services without a VPC.
        security_groups: Security groups of its network interfaces. Required with `subnets`.

    Raises:
        Refusal: If the region has no Amazon Managed Grafana, subnets and groups do not fit, or another value is not
            valid; all at once.

    See: https://docs.aws.amazon.com/grafana/latest/userguide/AMG-configure-vpc.html and
    https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-permissions.html (read 2026-11-21)
    """

    @staticmethod
    @checked
    def from_workspace_attributes(
        scope: Construct, id: str, *, workspace_id: str, region: str | None = None, role: iam.IRole | None = None
    ) -> IGrafanaWorkspace:
        """Import an existing workspace.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            workspace_id: Id of the workspace, `g-...`, or a token.
            region: Region of the workspace. Default: that of the stack.
            role: Role of the workspace. Default: not known; grants to the workspace fail.

        Raises:
            Refusal: If the id is not the id of a workspace.
        """
        form = "the id of a workspace, such as g-0123456789"
        problems = [*text_problem("workspace_id", workspace_id, GRAFANA_ID, form), *region_problem("region", region)]
        if problems:
            raise Refusal(f"{scope.node.path}/{id}", problems)
        imported = _GrafanaWorkspaceBase(scope, id, region=region)
        imported.workspace_id, imported.role = workspace_id, role
        place = imported.env.region
        domain = domain_of(place) if known(place) else cdk.Aws.URL_SUFFIX
        imported.url = f"https://{workspace_id}.grafana-workspace.{place}.{domain}"
        return imported

    @checked
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
            *check_same_vpc(
                {
                    **{f"subnets[{index}]": subnet for index, subnet in enumerate(subnets)},
                    **{f"security_groups[{index}]": group for index, group in enumerate(security_groups)},
                }
            ),
        ]
        if problems:
            raise Refusal(self, problems)
        workspaces = stack.format_arn(service="grafana", resource="/workspaces", resource_name="*")
        #: Role of the workspace.
        self.role: iam.IRole = iam.Role(
            self,
            "Role",
            description="Queries of the dashboards",
            assumed_by=iam.ServicePrincipal(
                "grafana.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": stack.account},
                    "ArnLike": {"aws:SourceArn": workspaces},
                },
            ),
        )
        resource = l1.CfnWorkspace(
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
        self.workspace_id = resource.attr_id
        self.url = f"https://{resource.attr_endpoint}"


def grafana_of(scope: Construct, grafana: IGrafanaWorkspace | str) -> IGrafanaWorkspace:
    """Return a workspace, imported if an id is given."""
    if isinstance(grafana, str):
        try:
            return GrafanaWorkspace.from_workspace_attributes(scope, "Grafana", workspace_id=grafana)
        except Refusal as refusal:
            raise Refusal(scope, [message.rule(f"grafana: {message}") for message in refusal.messages]) from refusal
    return grafana


def _problems(region: str, subnets: int, groups: int) -> Iterator[str]:
    if not cdk.Token.is_unresolved(region) and region not in NEW_GRAFANA_REGIONS:
        regions = ", ".join(sorted(NEW_GRAFANA_REGIONS))
        yield _REGION(
            f"CloudFormation has no Amazon Managed Grafana in {region}; use SelfHostedGrafana, or a workspace in one "
            f"of {regions}"
        )
    if subnets and not LEAST_SUBNETS <= subnets <= MOST_SUBNETS:
        yield _NETWORK(f"subnets must be {LEAST_SUBNETS} to {MOST_SUBNETS}, in zones of their own, got {subnets}")
    if bool(subnets) != bool(groups):
        yield _NETWORK("subnets and security_groups go together")


def _saml_problems(saml: Saml) -> Iterator[str]:
    yield from text_problem("saml.metadata_url", saml.metadata_url, HTTPS_URL, "an address that begins with https://")
    if not saml.admin_roles:
        yield _SAML("saml.admin_roles must have a role: without one, Grafana has no administrator")
    if not all((saml.role_attribute, *saml.admin_roles, *saml.editor_roles)):
        yield _SAML("saml: an attribute or a role has no name")


def _saml(saml: Saml) -> l1.CfnWorkspace.SamlConfigurationProperty:
    return l1.CfnWorkspace.SamlConfigurationProperty(
        idp_metadata=l1.CfnWorkspace.IdpMetadataProperty(url=saml.metadata_url),
        assertion_attributes=l1.CfnWorkspace.AssertionAttributesProperty(
            role=saml.role_attribute, email=saml.email_attribute
        ),
        role_values=l1.CfnWorkspace.RoleValuesProperty(
            admin=list(saml.admin_roles), editor=list(saml.editor_roles) or None
        ),
    )
