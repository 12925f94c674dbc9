"""Contents of the local cloud's buckets: templates and the code of functions."""

from urllib.parse import unquote, urlparse

from moto.s3.models import s3_backends

from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._errors import TemplateError


def read(bucket: str, key: str, environment: Environment) -> bytes:
    try:
        stored = s3_backends[environment.account][environment.partition].get_object(bucket, key)
    except Exception as error:
        raise TemplateError(f"S3 error: {error}") from error
    if stored is None:
        raise TemplateError(f"S3 error: The specified key does not exist: s3://{bucket}/{key}")
    return bytes(stored.value)


def read_url(url: str, environment: Environment) -> str:
    """Read a template at its URL, with the bucket in the path or in the host's name."""
    parsed = urlparse(url)
    host, path = parsed.netloc.split(":")[0], unquote(parsed.path).lstrip("/")
    bucket, key = path.split("/", 1) if host == "localhost" or host.startswith("s3") else (host.split(".")[0], path)
    return read(bucket, key, environment).decode()
