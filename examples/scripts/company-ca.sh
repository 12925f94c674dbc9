#!/usr/bin/env bash
# Trust the certificate authority of the company.
set -euo pipefail
aws ssm get-parameter --name /company/ca-certificate --query Parameter.Value --output text \
  >/usr/local/share/ca-certificates/company.crt
update-ca-certificates
