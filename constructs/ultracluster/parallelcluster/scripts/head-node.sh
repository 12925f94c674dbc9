#!/usr/bin/env bash
# Custom action OnNodeConfigured of the head node: let each job start with the health check of its nodes.
#
# Slurm runs every file of the directory as its prolog; all nodes mount it from the head node.
# https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-prolog-epilog-v3.html (read 2026-11-23)
set -Eeuo pipefail

# Root directory: empty on a node, a directory in tests.
directory=${ULTRACLUSTER_ROOT:-}/opt/slurm/etc/scripts/prolog.d
install -d -m 755 "$directory"
cat >"$directory/50_ultracluster_health" <<'PROLOG'
#!/usr/bin/env bash
# A node whose check fails takes no job: Slurm drains it, and the job starts on others.
[ -x /usr/local/sbin/ultracluster-health-check ] || exit 0
exec /usr/local/sbin/ultracluster-health-check --recent 30
PROLOG
chmod 755 "$directory/50_ultracluster_health"
