"""Grafana and CloudWatch dashboards as data, and the builder that renders them as JSON."""

from ultracluster.monitoring.dashboards._all import CLOUDWATCH_DASHBOARDS as CLOUDWATCH_DASHBOARDS
from ultracluster.monitoring.dashboards._all import DASHBOARDS as DASHBOARDS
from ultracluster.monitoring.dashboards._all import cloudwatch_dashboards as cloudwatch_dashboards
from ultracluster.monitoring.dashboards._all import dashboards as dashboards
from ultracluster.monitoring.dashboards._all import source_uid as source_uid
from ultracluster.monitoring.dashboards._build import build as build
from ultracluster.monitoring.dashboards._common import CLUSTER as CLUSTER
from ultracluster.monitoring.dashboards._common import MOST as MOST
from ultracluster.monitoring.dashboards._common import of as of
from ultracluster.monitoring.dashboards._common import together as together
from ultracluster.monitoring.dashboards._spec import Dashboard as Dashboard
from ultracluster.monitoring.dashboards._spec import FsxQuery as FsxQuery
from ultracluster.monitoring.dashboards._spec import LogsQuery as LogsQuery
from ultracluster.monitoring.dashboards._spec import Panel as Panel
from ultracluster.monitoring.dashboards._spec import Query as Query
from ultracluster.monitoring.dashboards._spec import Variable as Variable
from ultracluster.monitoring.dashboards._spec import series as series
from ultracluster.monitoring.dashboards._spec import stat as stat
from ultracluster.monitoring.dashboards._spec import table as table
from ultracluster.monitoring.dashboards._spec import timeline as timeline
