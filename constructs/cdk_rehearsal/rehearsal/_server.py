"""The HTTP server of a local cloud. It imports moto, which takes half a second."""

from functools import cache
from socket import socket

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.model_instances import reset_model_data
from moto.kms import models as kms_models
from moto.kms.utils import AbstractPrivateKey, generate_private_key
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from cdk_rehearsal.rehearsal import _moto_content
from cdk_rehearsal.rehearsal._answers import Answers
from cdk_rehearsal.rehearsal._api import CloudFormationApi
from cdk_rehearsal.rehearsal._engine import Engine
from cdk_rehearsal.rehearsal._front import Front
from cdk_rehearsal.rehearsal._grafana_stand_in import GrafanaStandIn
from cdk_rehearsal.rehearsal._handler import Handler
from cdk_rehearsal.rehearsal._state import Stacks


def server(
    listening: socket, engine: Engine, stacks: Stacks, answers: Answers, grafana: GrafanaStandIn
) -> BaseWSGIServer:
    """Return the server that answers the requests to a socket, without anything of an earlier cloud."""
    _reset()
    moto = DomainDispatcherApplication(create_backend_app)
    # For each request, it looks through the directories of its modules.
    moto.get_backend_for_host = cache(moto.get_backend_for_host)  # type: ignore[method-assign]
    front = Front(CloudFormationApi(engine), stacks, answers, grafana, moto)
    host, port = listening.getsockname()
    return make_server(host, port, front, threaded=True, request_handler=Handler, fd=listening.fileno())


def _reset() -> None:
    # moto's own reset makes each backend again, with thousands of images and policies, before it drops it.
    services = BackendDict._instances  # type: ignore[misc]  # generic, as in moto's own reset
    for backends in services:
        for backend in (backend for regions in backends.values() for backend in regions.values()):
            if type(backend).reset is not BaseBackend.reset:
                backend.reset()  # closes files
        backends.clear()
    services.clear()
    reset_model_data()
    _moto_content.install()
    kms_models.generate_private_key = _private_key  # type: ignore[attr-defined]


def _private_key(key_spec: str) -> AbstractPrivateKey:
    """Return the private key of a KMS key. moto computes one for a symmetric key too, which has none."""
    return _unused_key() if key_spec == "SYMMETRIC_DEFAULT" else generate_private_key(key_spec)


@cache
def _unused_key() -> AbstractPrivateKey:
    return generate_private_key("RSA_2048")
