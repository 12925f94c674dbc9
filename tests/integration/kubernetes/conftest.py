"""The cluster in memory, and the disposable one that `KUBECONFIG` names, if it does."""

from support.kubernetes_server import given

# Only a real controller of Kueue admits gangs.
collect_ignore = [] if given() else ["test_gang.py"]
