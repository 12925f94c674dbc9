#!/usr/bin/env bash
# Create the users of the cluster on this node, the same on every node, and follows changes.
# Usage: ultracluster-users --path /ultracluster/NAME/users --region REGION [--homes /home]
# Each line of the parameters below the path is one user: NAME UID|PUBLIC KEY|PUBLIC KEY
# Idempotent: a second run changes nothing. A user who is gone from the list is locked, and keeps files and number.
# Exit code 0: done; or the list could not be read, and the node never had it: it is drained for that
# (/run/ultracluster/health/users), and resumed when it has the list. 1: the node keeps the old list, or the directories of
# Enroot are not safe. A user that fails is no failure of the node: /run/ultracluster/software/users has the reason, for a
# metric.
set -euo pipefail

home=/home
while [ $# -gt 0 ]; do
  case "$1" in
    --path) path=$2; shift 2 ;;
    --region) region=$2; shift 2 ;;
    --homes) home=$2; shift 2 ;;
    *) echo "usage: $0 --path PATH --region REGION [--homes HOMES]" >&2; exit 2 ;;
  esac
done
etc=${ULTRACLUSTER_ETC:-/etc}
keys=$etc/ultracluster/authorized_keys
made=$etc/ultracluster/users
run=${ULTRACLUSTER_ROOT:-}/run/ultracluster
health=$run/health

# Write a state: DIRECTORY TEXT.
state() {
  mkdir -p "$run/$1"
  printf '%s\n' "$2" >"$run/$1/.users"
  mv "$run/$1/.users" "$run/$1/users"
}

# Report an error. Other users follow.
fail() {
  echo "$1" >&2
  failed+="${failed:+; }$1"
}

# A boot that fails drains the node until the next one; this state ends with the next run of the timer.
unread() {
  echo "the users can't be read from $path" >&2
  [ ! -e "$made" ] || exit 1
  state health "failed: the users can't be read from $path"
  exit 0
}

# On a node that has the program, sshd asks it for each account. Where the program is missing, nobody is locked out. It is
# the first line: an included file may end the others with a success.
limit_ssh() {
  local pam=$etc/pam.d/sshd program=/usr/local/sbin/ultracluster-ssh-access
  [ -f "$pam" ] || return 0
  {
    [ ! -x "${ULTRACLUSTER_ROOT:-}$program" ] ||
      echo "account required pam_exec.so quiet stdout /bin/sh -c [test ! -x $program || exec $program]"
    grep -vF "$program" "$pam"
  } >"$pam.ultracluster" || { rm -f "$pam.ultracluster"; return 1; }
  if cmp -s "$pam.ultracluster" "$pam"; then
    rm -f "$pam.ultracluster"
  else
    chmod --reference="$pam" "$pam.ultracluster" && mv -T "$pam.ultracluster" "$pam"
  fi
}
limit_ssh || echo "SSH to this node can't be limited to users with a job" >&2

# A whole cluster that boots sends its requests at once, and is throttled.
export AWS_RETRY_MODE=adaptive AWS_MAX_ATTEMPTS=10
# Nothing is changed when the list can't be read: an empty answer of an error would lock everybody.
for attempt in 1 2 3 4 5; do
  if records=$(timeout --kill-after=5 60 aws ssm get-parameters-by-path --path "${path:?}" --region "${region:?}" \
    --query 'Parameters[].Value' --output text); then
    break
  fi
  [ "$attempt" -lt 5 ] || unread
  pause=$((attempt * ${ULTRACLUSTER_PAUSE:-5}))
  # At random, so that nodes that were refused together do not come back together.
  sleep $((pause + RANDOM % (pause + 1)))
done
[ ! -e "$health/users" ] || state health ok
mkdir -p "$keys"
touch "$made"
# The keys are outside the homes: those are shared, and may be squashed.
sshd=$etc/ssh/sshd_config.d/50-ultracluster.conf
line="AuthorizedKeysFile .ssh/authorized_keys /etc/ultracluster/authorized_keys/%u"
if [ -d "${sshd%/*}" ] && [ "$(cat "$sshd" 2>/dev/null)" != "$line" ]; then
  echo "$line" >"$sshd"
  systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || true
fi

failed="" code=0
wanted=" "
uids=()
while IFS= read -r record; do
  [ -n "$record" ] && [ "$record" != None ] || continue
  IFS='|' read -ra fields <<<"$record"
  read -r name uid <<<"${fields[0]}"
  wanted+="$name "
  if has=$(id -u "$name" 2>/dev/null); then
    if [ "$has" != "$uid" ]; then
      fail "$name has the number $has here, and $uid in the cluster: left alone"
      continue
    fi
  else
    # Its group is there if an earlier useradd failed, such as for the lock of another installer.
    group=$(getent group "$name" | cut -d : -f 3) || group=""
    if [ -n "$group" ] && [ "$group" != "$uid" ]; then
      fail "$name is a group of this image with the number $group: take another name than $name"
      continue
    fi
    if { [ -z "$group" ] && ! groupadd --gid "$uid" "$name"; } || ! useradd --uid "$uid" --gid "$uid" --no-create-home \
      --home-dir "$home/$name" --shell /bin/bash "$name"; then
      fail "$name can't be made with the number $uid"
      continue
    fi
  fi
  uids+=("$uid")
  if ! grep -qx "$name" "$made"; then
    # Back on the list, or new.
    usermod --expiredate "" --shell /bin/bash "$name"
    echo "$name" >>"$made"
  fi
  # Complete before it has its name, for the node may end. One node of those that share the homes wins.
  new=$home/.$name.$HOSTNAME
  if [ ! -e "$home/$name" ] && rm -rf "$new" && mkdir -m 0700 "$new" 2>/dev/null; then
    cp -rT "$etc/skel" "$new" 2>/dev/null || true
    chown -R "$uid:$uid" "$new"
    mv -T "$new" "$home/$name" 2>/dev/null || rm -rf "$new"
  fi
  printf '%s\n' "${fields[@]:1}" >"$keys/.$name"
  chmod 0644 "$keys/.$name"
  mv "$keys/.$name" "$keys/$name"
done < <(tr '\t' '\n' <<<"$records")

while IFS= read -r name; do
  case "$wanted" in *" $name "*) continue ;; esac
  echo "$name is gone from the list: locked"
  usermod --expiredate 1 --shell /usr/sbin/nologin "$name" || fail "$name can't be locked"
  # Jobs are in no session.
  loginctl terminate-user "$name" 2>/dev/null || true
  rm -f "$keys/$name"
  sed -i "/^$name\$/d" "$made"
done < <(cat "$made")
homes=${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-container-homes
[ ! -x "$homes" ] || "$homes" "${uids[@]}" || code=1
# Another user may have caused what is reported, and must not keep nodes from joining.
directories=${ULTRACLUSTER_ROOT:-}/usr/local/sbin/ultracluster-user-directories
[ ! -x "$directories" ] || timeout --kill-after=5 60 "$directories" "${uids[@]}" || true
if [ -n "$failed" ]; then state software "failed: $failed"; else state software ok; fi
exit "$code"
