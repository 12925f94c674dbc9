# shellcheck shell=bash
# Signal the wait condition of a deployment: signal_deployment URL STATUS ID TEXT. The end of the text is the reason.
# Exit code 3: the deployment has ended, and needs no signal. 1: CloudFormation is not reached, or refuses the signal.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-waitcondition.html (read 2026-11-26)
signal_deployment() {
    local answer reason
    # The reason is part of JSON.
    reason=$(printf '%s' "$4" | tr '\n\t"\134' "  '/" | LC_ALL=C tr -cd '[:print:]' | tail -c 1500)
    answer=$(printf '{"Status": "%s", "UniqueId": "%s", "Data": "%s", "Reason": "%s"}' "$2" "$3" "${HOSTNAME:-}" "$reason" |
        curl --silent --show-error --retry 5 --max-time 120 --request PUT --header 'Content-Type:' \
            --write-out '%{http_code}' --data-binary @- "$1" 2>&1) ||
        { echo "CloudFormation is not reached: $answer"; return 1; }
    case $answer in
        *200) echo "signalled $2 to CloudFormation" ;;
        *expired*) echo "the deployment has ended, and needs no signal"; return 3 ;;
        *) echo "CloudFormation refuses the signal: $answer"; return 1 ;;
    esac
}
