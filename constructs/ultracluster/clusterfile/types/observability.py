"""The readers of the section `observability` as pydantic types, each with the JSON schema of what it takes."""

from typing import Annotated

from ultracluster.clusterfile.readers import basic as basic_readers
from ultracluster.clusterfile.readers import observability as readers
from ultracluster.clusterfile.types.reader import Reader, text_of

MetricsProfile = Annotated[
    str,
    Reader(basic_readers.word_of(readers.PROFILES, "a profile"), enum=list(readers.PROFILES)),
]
GrafanaKind = Annotated[
    str,
    Reader(
        basic_readers.word_of(readers.GRAFANA_KINDS, "a kind of Grafana"),
        enum=list(readers.GRAFANA_KINDS),
    ),
]
GrafanaWorkspaceId = Annotated[str, text_of(readers.grafana_id, readers.GRAFANA_ID, "g-0123456789")]
PrometheusWorkspaceArn = Annotated[
    str,
    text_of(
        readers.prometheus_arn,
        readers.PROMETHEUS_ARN,
        "arn:aws:aps:us-east-2:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef",
    ),
]
SecretArn = Annotated[
    str,
    text_of(
        readers.secret_arn,
        readers.SECRET_ARN,
        "arn:aws:secretsmanager:us-east-2:123456789012:secret:pagerduty-AbCdEf",
    ),
]
HttpsUrl = Annotated[str, text_of(readers.https_url, readers.HTTPS, "https://idp.example.com/metadata")]
RunbooksUrl = Annotated[str, text_of(readers.runbooks_url, readers.RUNBOOKS, "https://wiki.example.com/runbooks")]
SamlText = Annotated[str, text_of(readers.saml_text, readers.SAML_TEXT, "admin")]
