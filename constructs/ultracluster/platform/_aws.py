"""Calls to AWS, with the reason of a failure."""

from typing import Any

from ultracluster.platform._errors import ApplyError

# Judgement: a connection takes less than a second, a lost packet a second more. By default, botocore waits a minute.
_CONNECT_SECONDS = 5


def refuse_pages(events: Any) -> None:
    """Raise an error where a web page answers in place of AWS, in the calls of a client or a session of boto3.

    A proxy or a portal answers so, also with the status 200: botocore reads an empty answer of it.
    """
    events.register_first("before-parse", _refuse_page)


def _refuse_page(operation_model: Any, response_dict: Any, **_: Any) -> None:
    from botocore.parsers import ResponseParserError

    kind = str(response_dict["headers"].get("content-type", ""))
    # Calls with status 500 and above are repeated; an object in S3 may be a page.
    if "html" in kind and response_dict["status_code"] < 500 and not operation_model.has_streaming_output:
        raise ResponseParserError(
            f"{operation_model.name} was answered by a web page, which AWS does not send: look at the proxy, and at "
            "AWS_ENDPOINT_URL"
        )


def core_session() -> Any:
    """Return a session of botocore that waits seconds for a connection, also where it takes the role of a profile."""
    from botocore.config import Config
    from botocore.session import get_session

    result = get_session()
    result.set_default_client_config(Config(connect_timeout=_CONNECT_SECONDS))
    return result


def aws_session(region: str) -> Any:
    """Return a session of boto3.

    Raises:
        ApplyError: If boto3 is not installed.
    """
    try:
        import boto3
    except ImportError:
        remedy = "pip install 'cdk-ultracluster[apply]'; or pass --kubeconfig and --outputs"
        raise ApplyError("connect", "boto3", "it is not installed, and calls to AWS need it", remedy) from None
    session = boto3.Session(botocore_session=core_session(), region_name=region)
    refuse_pages(session.events)
    return session


def assumed(session: Any, role: str, region: str) -> Any:
    """Return a session of boto3 with the credentials of a role."""
    import boto3

    answer = call(
        session.client("sts").assume_role,
        f"role {role}",
        "allow this principal to assume it, or use the credentials of an administrator",
        RoleArn=role,
        RoleSessionName="ultracluster-apply",
    )["Credentials"]
    result = boto3.Session(
        aws_access_key_id=answer["AccessKeyId"],
        aws_secret_access_key=answer["SecretAccessKey"],
        aws_session_token=answer["SessionToken"],
        region_name=region,
    )
    refuse_pages(result.events)
    return result


def call(operation: Any, subject: str, remedy: str, **arguments: Any) -> Any:
    """Return the answer of an operation.

    Raises:
        ApplyError: If AWS refuses it, or does not answer.
    """
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    try:
        return operation(**arguments)
    except (BotoCoreError, ClientError, ResponseParserError) as error:
        raise ApplyError("connect", subject, str(error), remedy) from error


def resumed(region: str, session: str) -> tuple[str, str]:
    """Return the address and the token of a session whose connection was lost."""
    resume = aws_session(region).client("ssm").resume_session
    answer = call(resume, "the session", "start it again", SessionId=session)
    return answer["StreamUrl"], answer["TokenValue"]


def signed(region: str, url: str) -> dict[str, str]:
    """Return the headers that sign the request for a data channel.

    Session Manager will soon refuse requests without a signature:
    https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html and
    https://github.com/aws/session-manager-plugin (commit 040f79d), src/communicator/websocketchannel.go (read
    2026-11-26). An address that is presigned has one.
    """
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    if "X-Amz-Signature=" in url:
        return {}
    request = AWSRequest("GET", url.replace("wss://", "https://", 1))
    SigV4Auth(aws_session(region).get_credentials(), "ssmmessages", region).add_auth(request)
    return dict(request.headers)
