"""Read-only calls to the AWS account of the credentials."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

#: Error codes of a call that the credentials may not make.
_DENIED = frozenset(("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "403"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """An operation that changes nothing.

    Args:
        service: Service, as boto3 names it.
        operation: Method of boto3's client.
        action: IAM action that allows it. Empty: AWS allows it to all.
        region: Region of the endpoint. Default: that of the cluster.
        result: Key of the list in the answer, for `Account.pages`.
    """

    service: str
    operation: str
    action: str
    region: str | None = None
    result: str = ""


class NotAllowedError(Exception):
    """The credentials may not make a call."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(action)


class Account:
    """An account, and a region.

    Args:
        client: Creates boto3's client of a service in a region.
        region: Region of the cluster.
    """

    def __init__(self, client: Callable[[str, str], Any], region: str) -> None:
        self._create = client
        self.region = region

    def ask(self, call: Call, **arguments: Any) -> dict[str, Any]:
        """Make a call, and return its answer.

        Raises:
            NotAllowedError: If the credentials may not make the call.
        """
        answer = self.find(call, missing="", **arguments)
        assert answer is not None
        return answer

    def find(self, call: Call, *, missing: str, **arguments: Any) -> dict[str, Any] | None:
        """Make a call for a thing that may not exist.

        Args:
            call: The operation.
            missing: Error codes with which AWS reports that a resource does not exist, separated by spaces.
            **arguments: Arguments of the operation.

        Returns:
            The answer, or None if the thing does not exist.

        Raises:
            NotAllowedError: If the credentials may not make the call.
        """
        from botocore.exceptions import ClientError

        try:
            answer: dict[str, Any] = getattr(self._client(call), call.operation)(**arguments)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in missing.split():
                return None
            if code in _DENIED and call.action:
                raise NotAllowedError(call.action) from None
            raise
        return answer

    def pages(self, call: Call, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list, from all pages.

        Raises:
            NotAllowedError: If the credentials may not make the call.
        """
        from botocore.exceptions import ClientError

        try:
            for page in self._client(call).get_paginator(call.operation).paginate(**arguments):
                yield from page[call.result]
        except ClientError as error:
            if error.response["Error"]["Code"] in _DENIED:
                raise NotAllowedError(call.action) from None
            raise

    def _client(self, call: Call) -> Any:
        return self._create(call.service, call.region or self.region)
