"""`ultracluster render --ci`: a pipeline that checks, rehearses, compares and deploys a cluster file."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ultracluster.cli._writing import RenderedFile

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

#: Services that run pipelines.
SERVICES = ("github", "gitlab")

_GITHUB = """\
# Check, rehearse and compare on each pull request; deploy from the branch main.
# Needs: the variables AWS_DIFF_ROLE and AWS_DEPLOY_ROLE, ARNs of roles that trust this repository through OpenID
# Connect, and an environment NAME with reviewers. https://docs.github.com/actions (read 2026-11-22)
# A first deployment, or one that builds images, may take more than an hour. For it, set MaxSessionDuration of the role
# that deploys, an hour by default, and the variable AWS_DEPLOY_SECONDS: 21600, the longest job of a hosted runner.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_update-role-settings.html
name: NAME
on:
  pull_request:
  push: {branches: [main]}
permissions: {contents: read}
concurrency: {group: "NAME-${{ github.ref }}", cancel-in-progress: false}
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12", cache: pip}
      - run: pip install -r requirements.txt && npm ci --no-audit --no-fund
      - run: ultracluster check FILE
      - run: ultracluster rehearse FILE
  compare:
    if: github.event_name == 'pull_request'
    needs: check
    runs-on: ubuntu-latest
    permissions: {contents: read, id-token: write, pull-requests: write}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12", cache: pip}
      - run: pip install -r requirements.txt && npm ci --no-audit --no-fund
      - uses: aws-actions/configure-aws-credentials@v4
        with: {role-to-assume: "${{ vars.AWS_DIFF_ROLE }}", aws-region: REGION}
      - name: Compare with what is deployed
        env: {GH_TOKEN: "${{ github.token }}"}
        run: |
          code=0
          ultracluster diff FILE >difference.txt 2>&1 || code=$?
          cat difference.txt
          { echo '```'; cat difference.txt; echo '```'; } >>"$GITHUB_STEP_SUMMARY"
          # A comment has at most 65,536 characters (https://github.com/orgs/community/discussions/27190).
          { echo '<!-- ultracluster NAME -->'; echo '```'; head -c 65000 difference.txt; echo; echo '```'; } >comment.md
          repository="repos/$GITHUB_REPOSITORY/issues"
          # Each cluster of a repository has its comment.
          filter='.user.login == "github-actions[bot]" and (.body | startswith("<!-- ultracluster NAME -->"))'
          comments="$repository/${{ github.event.number }}/comments"
          comment=$(gh api "$comments" --paginate --jq ".[] | select($filter) | .id" | head -n 1)
          if [ -n "$comment" ]; then
            gh api --silent --method PATCH "$repository/comments/$comment" --field body=@comment.md
          else
            gh api --silent "$comments" --field body=@comment.md
          fi
          exit $code
  deploy:
    if: github.event_name == 'push'
    needs: check
    runs-on: ubuntu-latest
    environment: NAME
    permissions: {contents: read, id-token: write}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12", cache: pip}
      - run: pip install -r requirements.txt && npm ci --no-audit --no-fund
      - uses: aws-actions/configure-aws-credentials@v4
        with:
          role-to-assume: ${{ vars.AWS_DEPLOY_ROLE }}
          role-duration-seconds: ${{ vars.AWS_DEPLOY_SECONDS || 3600 }}
          aws-region: REGION
      - run: ultracluster deploy FILE --yes
"""

_GITLAB = """\
# Check, rehearse and compare on each merge request; deploy from the default branch, by hand.
# Needs: the variables AWS_DIFF_ROLE and AWS_DEPLOY_ROLE, ARNs of roles that trust this project through OpenID
# Connect, and COMMENT_TOKEN, a project access token with the scope api. https://docs.gitlab.com/ci (read 2026-11-22)
# Stages of .gitlab-ci.yml replace these: it must have check, compare and deploy then.
stages: [check, compare, deploy]
.NAME:
  image: nikolaik/python-nodejs:python3.12-nodejs24
  before_script:
    - pip install -r requirements.txt
    - npm ci --no-audit --no-fund
.NAME-aws:
  extends: .NAME
  id_tokens: {AWS_TOKEN: {aud: "https://gitlab.com"}}
  variables: {AWS_REGION: REGION, AWS_WEB_IDENTITY_TOKEN_FILE: /tmp/token, AWS_ROLE_SESSION_NAME: NAME}
NAME-check:
  stage: check
  extends: .NAME
  # Without rules, a job is not in the pipeline of a merge request.
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - ultracluster check FILE
    - ultracluster rehearse FILE
NAME-compare:
  stage: compare
  extends: .NAME-aws
  # Not those of other clusters.
  needs: [NAME-check]
  rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]
  script:
    - export AWS_ROLE_ARN="$AWS_DIFF_ROLE" && echo "$AWS_TOKEN" >"$AWS_WEB_IDENTITY_TOKEN_FILE"
    - code=0; ultracluster diff FILE >difference.txt 2>&1 || code=$?
    - cat difference.txt
    - |
      { echo '```'; cat difference.txt; echo '```'; } >comment.md
      curl --fail --silent --header "PRIVATE-TOKEN: $COMMENT_TOKEN" --data-urlencode body@comment.md \\
        "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
    - exit $code
NAME-deploy:
  stage: deploy
  extends: .NAME-aws
  needs: [NAME-check]
  environment: NAME
  resource_group: NAME
  # Without it, that of the project, which is an hour by default. The credentials are renewed meanwhile. A shorter
  # maximum of the runner holds: https://docs.gitlab.com/ci/runners/configure_runners/ (read 2026-11-27)
  timeout: 6h
  rules: [{if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH, when: manual}]
  script:
    - export AWS_ROLE_ARN="$AWS_DEPLOY_ROLE" && echo "$AWS_TOKEN" >"$AWS_WEB_IDENTITY_TOKEN_FILE"
    - ultracluster deploy FILE --yes
"""
_PATHS = {"github": ".github/workflows/{}.yml", "gitlab": ".gitlab/clusters/{}.yml"}
# Of all clusters of a repository: https://docs.gitlab.com/ci/yaml/includes (read 2026-11-27).
_INCLUDES = ".gitlab-ci.yml"
_INCLUDE = "include: [{local: .gitlab/clusters/*.yml}]\n"


def pipeline(service: str, file: str, cluster: "ClusterFile", root: Path) -> list[RenderedFile]:
    """Return the pipeline of a cluster file for one of `SERVICES`.

    Args:
        service: One of `SERVICES`.
        file: Cluster file.
        cluster: Content of the file.
        root: Root of the repository.

    Raises:
        ValueError: If the file is outside of the repository.
    """
    try:
        path = Path(file).resolve().relative_to(root.resolve())
    except ValueError:
        raise ValueError(
            f"--ci: {file} is outside of {root}: a pipeline reads it from the repository; --out must be its root"
        ) from None
    text = _GITHUB if service == "github" else _GITLAB
    words = {"FILE": shlex.quote(path.as_posix()), "REGION": cluster.region, "NAME": cluster.name}
    for word, value in words.items():
        # Not within AWS_ROLE_SESSION_NAME and the like.
        text = re.sub(rf"(?<![A-Z_]){word}(?![A-Z_])", value.replace("\\", r"\\"), text)
    what = "Pipeline: check, rehearse, compare as a comment, deploy."
    files = [RenderedFile(path=_PATHS[service].format(cluster.name), text=text, what=what)]
    existing = root / _INCLUDES
    if service == "gitlab" and (not existing.exists() or existing.read_bytes() == _INCLUDE.encode()):
        files.append(RenderedFile(path=_INCLUDES, text=_INCLUDE, what="Pipeline: those of all clusters."))
    elif service == "gitlab" and ".gitlab/clusters/" not in existing.read_text(encoding="utf-8"):
        typer.echo(f"note: {existing} does not include the pipeline; add: {_INCLUDE.strip()}", err=True)
    return files
