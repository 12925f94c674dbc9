"""The HTTP server of a local cloud. It imports moto, which takes two seconds."""

import json
from functools import cache
from socket import socket
from typing import Any

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.config import default_user_config
from moto.core.model_instances import reset_model_data
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend, ManagedPolicy
from moto.kms import models as kms_models
from moto.kms.utils import AbstractPrivateKey, generate_private_key
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

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
    # Roles name AWS's own policies (AmazonSSMManagedInstanceCore, ...): moto loads them only when configured to.
    default_user_config["iam"]["load_aws_managed_policies"] = True
    IAMBackend._init_aws_policies = _policies_of_aws  # type: ignore[assignment, method-assign]
    kms_models.generate_private_key = _private_key  # type: ignore[attr-defined]


def _policies_of_aws(backend: IAMBackend) -> list[ManagedPolicy]:
    """Return AWS's own policies. moto reads their four megabytes again for each account, for a third of a second."""
    place = backend.account_id, backend.region_name
    return [AWSManagedPolicy.from_data(name, *place, data) for name, data in _data_of_policies().items()]


@cache
def _data_of_policies() -> dict[str, Any]:
    return dict(json.loads(aws_managed_policies_data))


def _private_key(key_spec: str) -> AbstractPrivateKey:
    """Return the private key of a KMS key. moto computes one for a symmetric key too, which has none."""
    return _unused_key() if key_spec == "SYMMETRIC_DEFAULT" else generate_private_key(key_spec)


@cache
def _unused_key() -> AbstractPrivateKey:
    return generate_private_key("RSA_2048")
