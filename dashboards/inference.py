"""Models that are served."""

from dashboards.common import CLUSTER, of
from dashboards.spec import Dashboard, Panel, Row, Variable

_MODEL = Variable(
    name="model", title="Model", metric="inference:requests_running:count", label="model_name", several=True
)
_WITHIN = 'model_name=~"$model"'

INFERENCE = Dashboard(
    uid="ultracluster-inference",
    title="Inference",
    about="Do users wait, and is the cache or the load the reason?",
    variables=(CLUSTER, _MODEL),
    rows=(
        Row(
            title="Latency",
            panels=(
                Panel(kind="timeseries", title="Time to the first token, 95th percentile", least=0, width=12, unit="s",
                      queries=(of("inference:first_token_p95:seconds", "{{model_name}}", within=_WITHIN),),
                      why="What a user feels first. It grows with the requests that wait."),
                Panel(kind="timeseries", title="Time of a request, 95th percentile", least=0, width=12, unit="s",
                      queries=(of("inference:request_p95:seconds", "{{model_name}}", within=_WITHIN),),
                      why="From the question to the last token."),
            ),
        ),
        Row(
            title="Load",
            panels=(
                Panel(kind="timeseries", title="Requests", least=0,
                      queries=(of("inference:requests_running:count", "{{model_name}} served", within=_WITHIN),
                               of("inference:requests_waiting:count", "{{model_name}} waiting", within=_WITHIN)),
                      why="Requests that wait for long: more replicas."),
                Panel(kind="timeseries", title="Key-value cache", unit="percentunit", least=0, most=1,
                      queries=(of("inference:kv_cache:ratio", "{{model_name}}", within=_WITHIN),),
                      why="The fullest replica. At 100 percent requests are put off and begun anew."),
                Panel(kind="timeseries", title="Tokens per second", least=0,
                      queries=(of("inference:generated_tokens:per_second", "{{model_name}} generated",
                                  within=_WITHIN),
                               of("inference:prompt_tokens:per_second", "{{model_name}} of prompts",
                                  within=_WITHIN)),
                      why="Generated, and read from prompts."),
            ),
        ),
    ),
)  # fmt: skip
