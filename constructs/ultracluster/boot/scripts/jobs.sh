#!/usr/bin/env bash
# Write the job files of the cluster into a directory that all nodes have, and follow changes.
# Usage: ultracluster-jobs --parameter /ultracluster/NAME/jobs --region REGION --directory DIRECTORY
# The parameter holds URL SHA256 of an archive. Each archive has a directory of its own, DIRECTORY/VERSION, which never
# changes, and DIRECTORY/current is a link to the newest. All belong to root: users edit copies.
# Idempotent: a second run changes nothing.
set -euo pipefail

while [ $# -gt 0 ]; do
  case "$1" in
    --parameter) parameter=$2; shift 2 ;;
    --region) region=$2; shift 2 ;;
    --directory) directory=$2; shift 2 ;;
    *) echo "usage: $0 --parameter NAME --region REGION --directory DIRECTORY" >&2; exit 2 ;;
  esac
done
directory=${ULTRACLUSTER_ROOT:-}${directory:?}
umask 022
export AWS_RETRY_MODE=adaptive AWS_MAX_ATTEMPTS=10

value=$(aws ssm get-parameter --name "${parameter:?}" --region "${region:?}" --query Parameter.Value --output text)
read -r url sha256 <<<"$value"
[[ $sha256 =~ ^[0-9a-f]{64}$ ]] || { echo "$parameter holds no checksum: $value" >&2; exit 1; }
version=${sha256:0:12}
mkdir -p "$directory"
# The shared file system is open to all users.
[ -O "$directory" ] || { echo "$directory belongs to another user: remove it, or have it removed" >&2; exit 1; }
if [ ! -d "$directory/$version" ]; then
  new=$(mktemp -d "$directory/.new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  aws s3 cp --only-show-errors --region "$region" "$url" "$new/archive"
  echo "$sha256  $new/archive" | sha256sum --check --status || { echo "$url does not have the checksum of $parameter" >&2; exit 1; }
  mkdir "$new/files"
  tar -x -f "$new/archive" -C "$new/files" --no-same-owner
  # Another login node may have been faster.
  mv -T "$new/files" "$directory/$version" 2>/dev/null || [ -d "$directory/$version" ]
fi
if [ "$(readlink "$directory/current" || true)" != "$version" ]; then
  ln -s "$version" "$directory/.current.$$"
  mv -T "$directory/.current.$$" "$directory/current"
  echo "$directory/current is $version"
fi
