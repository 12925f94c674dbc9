#!/usr/bin/env bash
# Allow SSH to a compute node to users with a job on it, and to Slurm's controller on HyperPod to administrators only: PAM
# runs this for the accounts of sshd.
#
#   PAM_USER=NAME ssh-access.sh
#
# Also allowed: root and users of the system, the image's own user, and members of the groups sudo and wheel. The prolog
# writes the jobs of the node, and the epilog removes them. The controller has /etc/ultracluster/ssh-refusal instead. Exit
# code 0: allowed. 1: not; what it prints is for the user.
set -uo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
[ -n "$root" ] || PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
user=${PAM_USER:-}
case $user in root | ubuntu | ec2-user) exit 0 ;; esac
# People begin at 1000, as in the epilog.
uid=$(id -u -- "$user" 2>/dev/null) || exit 1
[ "$uid" -ge 1000 ] || exit 0
# By number: the name of a group of a directory may have spaces.
gids=" $(id -G -- "$user") "
for gid in $(getent group sudo wheel | cut -d : -f 3); do
    [[ $gids != *" $gid "* ]] || exit 0
done
# The role of the controller may read the secret of an accounting database.
if [ -e "$root/etc/ultracluster/ssh-refusal" ]; then
    cat "$root/etc/ultracluster/ssh-refusal"
    exit 1
fi
# A job may run on its first node before the prologs of all its nodes have begun.
for ((left = ${ULTRACLUSTER_WAIT:-10}; left >= 0; left--)); do
    grep -qsxF "$uid" "$root"/run/ultracluster/jobs/* && exit 0
    [ "$left" -eq 0 ] || sleep 1
done
echo "You have no job on ${HOSTNAME%%.*}: a compute node allows SSH while a job of the same user runs there."
exit 1
