#!/usr/bin/env bash
# The check of action.yml: findings as SARIF for code scanning and as text for the log, with the exit code of `tessera check`.
set -uo pipefail
tessera=${TESSERA:-tessera}
# Paths and options are words; patterns are left to tessera.
set -f
words=()
[ -z "${PROFILE-}" ] || words+=(--profile "$PROFILE")
# shellcheck disable=SC2086
"$tessera" check ${PATHS:-.} ${ARGS-} "${words[@]}" --format sarif >"$SARIF"
code=$?
# 2 is a wrong command line: there is nothing to upload.
if [ $code -ne 2 ]; then echo "sarif=$SARIF" >>"${GITHUB_OUTPUT:-/dev/null}"; fi
# shellcheck disable=SC2086
"$tessera" check ${PATHS:-.} ${ARGS-} "${words[@]}"
exit $code
