#!/bin/sh
# The conformance suite and the inspector against a server of the fixture skills beside this file.
#
#     check.sh PROGRAM FOLDER    what `install.sh` fetches is in FOLDER, and so are the logs
#
# Exit code 77: the packages can't be had here. Everything is bounded in time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"

start_server() {
    "$program" mcp "$here/skills" "$here/../../tests/skills/served/word-count" --http 127.0.0.1:0 --timeout 60 2>server.log &
    server=$!
    trap 'kill "$server" 2>/dev/null || true' EXIT
    for _ in $(seq 100); do
        url=$(sed -n 's/.*\(http:[^ ]*\)/\1/p' server.log)
        [ -n "$url" ] && return
        sleep 0.1
    done
    echo "the server does not start" >&2
    exit 1
}

"$here/install.sh" node "$PWD"
cd node
start_server
for revision in 2026-07-28 2025-11-25; do
    echo "conformance $revision"
    timeout 400 ./node node_modules/.bin/conformance server --url "$url" --requirements "$revision" \
        --expected-failures "$here/expected-$revision.yml" >"conformance-$revision.log" 2>&1 ||
        { tail -60 "conformance-$revision.log"; exit 1; }
    tail -4 "conformance-$revision.log"
done
echo "inspector"
for era in modern legacy; do
    timeout 100 ./node node_modules/.bin/mcp-inspector --cli "$url" --transport http --protocol-era "$era" \
        --method tools/list --strict >"inspector-$era.log" 2>&1 || { tail -40 "inspector-$era.log"; exit 1; }
    timeout 200 ./node node_modules/.bin/mcp-inspector --cli "$url" --transport http --protocol-era "$era" \
        --method tools/call --tool-name test_simple_text --load --load-concurrency 100 --load-requests 1000 \
        >"load-$era.log" 2>&1 || { tail -40 "load-$era.log"; exit 1; }
    tail -12 "load-$era.log"
done
timeout 100 ./node node_modules/.bin/mcp-inspector --cli "$url" --transport http --protocol-era modern \
    --method skills/list --verify >skills.log 2>&1 || { tail -40 skills.log; exit 1; }
tail -1 skills.log
