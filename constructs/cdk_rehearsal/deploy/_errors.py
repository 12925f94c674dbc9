"""Error of a deployment."""


class DeployError(ValueError):
    """A deployment cannot start; the message has the remedy."""
