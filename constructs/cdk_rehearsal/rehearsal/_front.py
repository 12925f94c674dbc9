"""Routing of requests: CloudFormation's requests go to the engine, all others to moto."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.parse import QueryParser
from moto.core.serialize import QuerySerializer
from moto.core.utils import get_service_model
from moto.iam.models import iam_backends
from werkzeug.datastructures import Headers, MultiDict

from cdk_rehearsal.rehearsal import _grafana_stand_in as grafana_stand_in
from cdk_rehearsal.rehearsal import _pcs_stand_in as pcs_stand_in
from cdk_rehearsal.rehearsal._answers import PATH, Answers
from cdk_rehearsal.rehearsal._api import CloudFormationApi
from cdk_rehearsal.rehearsal._blueprint import KEY_PREFIX, Environment
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._state import Stacks

_CREDENTIAL = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request")
_SERVICE = get_service_model("cloudformation")

StartResponse = Callable[[str, list[tuple[str, str]]], Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


@dataclass(frozen=True)
class Front:
    """A WSGI application. `moto` answers what the others do not."""

    api: CloudFormationApi
    stacks: Stacks
    answers: Answers
    grafana: grafana_stand_in.GrafanaStandIn
    moto: Application

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path.startswith(PATH):
            taken = self.answers.put(path.removeprefix(PATH), _body(environ))
            start_response("200 OK" if taken else "404 Not Found", [("Content-Length", "0")])
            return [b""]
        match = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
        if path.startswith(grafana_stand_in.PATH) or (match and match[3] == "grafana"):
            return self._stand_in(environ, start_response)
        account = _account(match[1]) if match else None
        if account and match and match[3] == "cloudformation":
            return self._cloudformation(environ, start_response, account, match[2])
        if account and match and match[3] == "pcs":
            operation = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
            place = Environment(account=account, region=match[2])
            return _json(start_response, *pcs_stand_in.answer(self.stacks, place, operation, _body(environ)))
        if account:
            environ["HTTP_X_MOTO_ACCOUNT_ID"] = account
        return self.moto(environ, start_response)

    def _stand_in(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        answer = grafana_stand_in.answer(self.grafana, environ, _body(environ))
        missing = ("404 Not Found", b'{"message": "the stand-in for Grafana has no such operation"}')
        return _json(start_response, *(answer or missing))

    def _cloudformation(
        self, environ: dict[str, Any], start_response: StartResponse, account: str, region: str
    ) -> Iterable[bytes]:
        form = dict(parse_qsl(_body(environ).decode(), keep_blank_values=True))
        operation = form.get("Action", "")
        try:
            status, body = "200 OK", self._answer(operation, form, account, region)
        except TemplateError as error:
            status, body = "400 Bad Request", _error(error.code, str(error))
        except Exception as error:  # a defect of the rehearsal must not look like success, nor be retried for minutes
            status, body = "400 Bad Request", _error("InternalFailure", f"rehearsal: {type(error).__name__}: {error}")
        content = body.encode()
        start_response(status, [("Content-Type", "text/xml"), ("Content-Length", str(len(content)))])
        return [content]

    def _answer(self, operation: str, form: dict[str, str], account: str, region: str) -> str:
        model = _SERVICE.operation_model(operation)
        request = QueryParser(model).parse(
            {
                "body": "",
                "headers": Headers(),
                "method": "POST",
                "url_params": {},
                "url_path": "/",
                "values": MultiDict(form),
            }
        )
        environment = Environment(account=account, region=region)
        answer = self.api.call(operation, request, environment)
        return str(QuerySerializer(model).serialize(answer)["body"])


def _account(access_key: str) -> str:
    if access_key.startswith(KEY_PREFIX):
        return access_key.removeprefix(KEY_PREFIX)
    # moto's own look-up creates the IAM of each partition, with 1,500 policies of AWS: 0.15 s of CPU time.
    for account, partitions in list(iam_backends.items()):
        if any(access_key in backend.access_keys for backend in list(partitions.values())):
            return str(account)
    return DEFAULT_ACCOUNT_ID


def _json(start_response: StartResponse, status: str, content: bytes) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]


def _body(environ: dict[str, Any]) -> bytes:
    length = int(environ.get("CONTENT_LENGTH") or 0)
    return bytes(environ["wsgi.input"].read(length)) if length else b""


def _error(code: str, message: str) -> str:
    return (
        '<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>'
        f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message></Error>"
        "<RequestId>rehearsal</RequestId></ErrorResponse>"
    )
