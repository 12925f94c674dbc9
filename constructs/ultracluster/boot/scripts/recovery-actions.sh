# shellcheck shell=bash
# Function of health-check.sh and node-metrics.sh, which include it.
#
#   recovery_actions XIDS HARMLESS < KERNEL-LOG
#
#   XIDS      XIDs whose fatal sub-codes need a reset of the GPU
#   HARMLESS  sub-codes of them that do not, XID:SUBCODE
#
# Print the GPUs that need recovery: bus, XID and reason, separated by tabs. Bits 20 to 25 of the first word are the
# sub-code.
# NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 ...)
# NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
recovery_actions() {
    awk -v xids=" $1 " -v harmless=" $2 " '
        !/NVRM: Xid \(/ { next }
        {
            bus = $0; sub(/.*NVRM: Xid \((PCI:)?/, "", bus); rest = bus; sub(/\).*/, "", bus)
            sub(/^[^)]*\): /, "", rest); xid = rest; sub(/[^0-9].*/, "", xid)
        }
        xid == 154 && match(rest, / to 0x[0-9a-fA-F]+ \([^)]*\)/) {
            reason = substr(rest, RSTART, RLENGTH); sub(/^[^(]*\(/, "", reason); sub(/\)$/, "", reason)
            if (reason == "None") delete last[bus]; else last[bus] = xid "\t" reason
        }
        index(xids, " " xid " ") && match(rest, /[A-Z_0-9\/]+ +Fatal /) {
            reason = substr(rest, RSTART, RLENGTH); sub(/ .*/, "", reason); code = 0
            if (match(rest, /\(0x[0-9a-fA-F]+/) && RLENGTH == 11) {
                word = tolower(substr(rest, RSTART + 3, 8)); digits = "0123456789abcdef"
                code = (index(digits, substr(word, 2, 1)) - 1) % 4 * 16 + index(digits, substr(word, 3, 1)) - 1
            }
            if (!index(harmless, " " xid ":" code " ") && !(bus in last)) last[bus] = xid "\t" reason
        }
        END { for (bus in last) print bus "\t" last[bus] }'
}
