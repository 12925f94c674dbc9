"""Base of Kubernetes clusters whose service creates something before the platform is applied."""

from constructs import Construct, IDependable


class BeforePlatform(Construct):
    """Base of Kubernetes clusters: what their service creates between nodes and platform. By default, nothing."""

    def create_before_platform(self, scope: Construct) -> list[IDependable]:
        """Create it in the scope of the platform, which is applied after it."""
        return []
