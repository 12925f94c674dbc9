#!/usr/bin/env bash
# A stand-in for the set-up script of AWS's configure-efa-fsx-lustre-client.zip, as the scripts call it: it gives LNet
# the EFA devices that it would take, eight at most, or all of them for GPUDirect Storage.
set -euo pipefail
state=$STAND_IN_STATE
echo "setup.sh $*" >>"$state/calls"
if [ -e "$state/tool-fails" ]; then
    echo "Doing basic checks..."
    echo "Error: Instance type does not support Lustre GDS."
    exit 1
fi
[ ! -d "$ULTRACLUSTER_ROOT/sys/module/lnet" ] || touch "$state/options-not-read"
mkdir -p "$ULTRACLUSTER_ROOT/sys/module/lnet" "$state/lnet/efa"
devices=("$ULTRACLUSTER_ROOT"/sys/class/infiniband/rdmap*)
step=$(((${#devices[@]} + 7) / 8))
if [[ $* == *--optimized-for-gds* ]]; then step=1; fi
for ((index = 0; index < ${#devices[@]}; index += step)); do echo up >"$state/lnet/efa/${devices[index]##*/}"; done
echo "Successfully configured and added EFA interface(s)."
