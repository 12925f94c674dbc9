#!/usr/bin/env bash
# Create accounts, QoS and users of Slurm from the table on standard input. Run it as root on a login node.
# Usage: slurm-accounts VERSION OPTIONS-OF-ACCOUNTS OPTIONS-OF-QOS <TABLE
# Lines: "qos NAME OPTION=VALUE ...", "account NAME OPTION=VALUE ...", "parent ACCOUNT PARENT", "only qos|account NAME":
# clear its other options, "member ACCOUNT USER", "user NAME OPTION=VALUE ...": of the accounts of the table, it has these
# The image's own user gets the root account, unless it has one: Slurm that enforces associations refuses users without.
# Idempotent. Accounts, QoS and users that are not in the table are left alone: their history counts.
set -euo pipefail

account_options=$2 qos_options=$3
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

# Clear options that left the table. sacctmgr keeps each, and each resource of a list, until it is -1: KIND NAME
clear_others() {
  local kind=$1 name=$2 entity fields=$account_options names values i field value wanted gone entry cleared=()
  entity=(assoc where "account=$name" user=)
  [ "$kind" = account ] || { entity=(qos where "name=$name") fields=$qos_options; }
  IFS=, read -ra names <<<"$fields"
  IFS='|' read -ra values < <(sacctmgr -nP show "${entity[@]}" "format=$fields") || true
  for i in "${!names[@]}"; do
    field=${names[i]} value=${values[i]:-} wanted="" gone=""
    for entry in "${options[@]}"; do [ "${entry%%=*}" != "$field" ] || wanted=${entry#*=}; done
    case "$field $value" in
      # What Slurm shows for an option that is not set.
      *" " | "GraceTime 00:00:00" | "UsageFactor 1.000000" | "PreemptMode cluster") ;;
      QOS*)
        now=$(sacctmgr -nP show assoc where "account=$parent" user= format=qos)
        [ -n "$wanted" ] || [ "$value" = "$now" ] || cleared+=(QOS=)
        ;;
      *=*)
        for entry in ${value//,/ }; do
          [[ ",${wanted,,}" == *",${entry%%=*}="* ]] || gone+=",${entry%%=*}=-1"
        done
        [ -z "$gone" ] || cleared+=("$field=${gone#,}")
        ;;
      Preempt\ *) [ -n "$wanted" ] || cleared+=(Preempt=) ;;
      PreemptMode*) [ -n "$wanted" ] || cleared+=(PreemptMode=cluster) ;;
      *) [ -n "$wanted" ] || cleared+=("$field=-1") ;;
    esac
  done
  [ "${#cleared[@]}" -eq 0 ] || try sacctmgr -i modify "$kind" where "name=$name" set "${cleared[@]}"
}

# Remove a user from the accounts of the table that do not name it. Slurm refuses that while jobs wait or run there, and
# the next run tries it again: NAME
leave_others() {
  local account
  while read -r account; do
    [[ $'\n'$table == *$'\n'"account $account "* ]] || continue
    [[ $'\n'$table$'\n' == *$'\n'"member $account $1"$'\n'* ]] ||
      sacctmgr -i delete user where "name=$1" "account=$account" || echo "$1 keeps the account $account for now"
  done < <(sacctmgr -nP show assoc where "user=$1" format=account)
}

apply() {
  local words kind name options=() now parent=root user member failed=0
  while read -ra words; do
    [ "${#words[@]}" -ge 2 ] || continue
    kind=${words[0]} name=${words[1]}
    [ "$kind" = only ] || [ "$kind" = parent ] || options=("${words[@]:2}")
    case "$kind" in
      qos | account)
        has "$kind" "$name" || sacctmgr -i add "$kind" "$name" || try has "$kind" "$name"
        [ "${#options[@]}" -eq 0 ] || try sacctmgr -i modify "$kind" where "name=$name" set "${options[@]}"
        ;;
      parent)
        parent=${words[2]}
        # sacctmgr fails, and changes nothing of the line, when an account is given the parent that it has.
        now=$(sacctmgr -nP show assoc where "account=$name" format=parentname,user | sed -n 's/|$//p' | head -n 1)
        [ "$now" = "$parent" ] || try sacctmgr -i modify account where "name=$name" set "parent=$parent"
        ;;
      only) clear_others "$name" "${words[2]}" ;;
      member | image)
        user=${words[2]}
        member=(assoc where "user=$user" format=user)
        [ "$kind" = image ] || member+=("account=$name")
        has "${member[@]}" || sacctmgr -i add user "$user" "account=$name" || try has "${member[@]}"
        ;;
      user)
        if has user where "name=$name" format=user; then
          [ "${#options[@]}" -eq 0 ] || try sacctmgr -i modify user where "name=$name" set "${options[@]}"
          leave_others "$name"
        fi
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
