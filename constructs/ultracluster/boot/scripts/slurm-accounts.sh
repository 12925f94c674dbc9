#!/usr/bin/env bash
# Create accounts, QoS and users of Slurm from the table on standard input. Run it as root on a login node.
# Usage: slurm-accounts VERSION <TABLE
# Lines: "qos NAME OPTION=VALUE ...", "account NAME OPTION=VALUE ...", "parent ACCOUNT PARENT", "member ACCOUNT USER",
# "user NAME OPTION=VALUE ..."
# The image's own user gets the root account, unless it has one: Slurm that enforces associations refuses users without.
# Idempotent. What is not in the table is left alone: its history counts.
set -euo pipefail

PATH="/opt/aws/pcs/scheduler/slurm-$1/bin:$PATH"
# Systems Manager reaches a new node before its boot has ended. slurmd starts after that, and only then sacctmgr has a
# configuration: https://docs.aws.amazon.com/pcs/latest/userguide/slurm-configuration.html (read 2026-11-26)
limit=${ULTRACLUSTER_LIMIT:-2400} pause=${ULTRACLUSTER_PAUSE:-10}
until answer=$(sacctmgr -n show cluster format=cluster 2>&1); do
  if [ "$SECONDS" -ge "$limit" ]; then
    echo "the accounting database does not answer: $answer" >&2
    exit 1
  fi
  sleep "$pause"
done

# Check what exists: another login node may have created the same entity.
has() { [ -n "$(sacctmgr -nP show "$@")" ]; }

try() { "$@" || { echo "failed: $*" >&2; failed=1; }; }

apply() {
  local words kind name options now user member failed=0
  while read -ra words; do
    [ "${#words[@]}" -ge 2 ] || continue
    kind=${words[0]} name=${words[1]}
    options=("${words[@]:2}")
    case "$kind" in
      qos | account)
        has "$kind" "$name" || sacctmgr -i add "$kind" "$name" || try has "$kind" "$name"
        [ "${#options[@]}" -eq 0 ] || try sacctmgr -i modify "$kind" where "name=$name" set "${options[@]}"
        ;;
      parent)
        # sacctmgr fails, and changes nothing of the line, when an account is given the parent that it has.
        now=$(sacctmgr -nP show assoc where "account=$name" format=parentname,user | sed -n 's/|$//p' | head -n 1)
        [ "$now" = "${words[2]}" ] || try sacctmgr -i modify account where "name=$name" set "parent=${words[2]}"
        ;;
      member | image)
        user=${words[2]}
        member=(assoc where "user=$user" format=user)
        [ "$kind" = image ] || member+=("account=$name")
        has "${member[@]}" || sacctmgr -i add user "$user" "account=$name" || try has "${member[@]}"
        ;;
      user)
        [ "${#options[@]}" -eq 0 ] || try sacctmgr -i modify user where "name=$name" set "${options[@]}"
        ;;
      *)
        echo "unknown kind $kind" >&2
        failed=1
        ;;
    esac
  done <<<"$table"
  return "$failed"
}

# Another login node may block slurmdbd for minutes, and the first failure ends a deployment. Ten minutes, so that a wrong
# option does not hold it for long.
table=$(cat)
for user in ubuntu ec2-user; do
  ! getent -s files passwd "$user" >/dev/null || table+=$'\n'"image root $user"
done
last=$((SECONDS + 600))
until apply; do
  [ "$SECONDS" -lt "$((last < limit ? last : limit))" ] || exit 1
  sleep "$pause"
done
