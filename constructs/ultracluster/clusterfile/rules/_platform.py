"""Rules of what installs charts and objects on a Kubernetes cluster."""

from collections.abc import Iterator

from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._problems import Problem
from ultracluster.clusterfile.rules._rule import error

_ARGO_CD = error("kubernetes-argo-cd", "Argo CD reads a Git repository, and people sign in by IAM Identity Center.")


def check_platform(draft: Draft) -> Iterator[Problem]:
    """Check that the installer of the platform and its keys belong together."""
    requested = draft.kubernetes
    if requested.platform == "argo-cd" and requested.argo_cd is None:
        message = (
            "needs the key argo-cd, such as argo-cd: {identity-center: arn:aws:sso:::instance/ssoins-..., admins: "
        )
        message += "[GROUP], repository: https://github.com/acme/clusters.git}"
        yield _ARGO_CD(("kubernetes", "platform"), message)
    if requested.platform != "argo-cd" and requested.argo_cd is not None:
        message = f"has no effect with platform: {requested.platform}; write platform: argo-cd, or remove it"
        yield _ARGO_CD(("kubernetes", "argo-cd"), message, at_key=True)
