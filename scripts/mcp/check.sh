#!/bin/sh
# The conformance suite and the inspector against a server of the fixture skills beside this file.
#
#     check.sh PROGRAM FOLDER    FOLDER is kept: what npm installs goes there, by name and version
#
# Needs npm. Exit code 77: the packages can't be had here. Everything is bounded in time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"

install_packages() {
    [ -f installed ] && return
    # npm's `node` package installs itself by a script, which many npms don't run: this is what that script would install.
    echo '{"private": true}' >package.json
    timeout 300 npm install --no-audit --no-fund --ignore-scripts "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@22" \
        @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 \
        >npm.log 2>&1 || exit 77
    touch installed
}

start_server() {
    "$program" mcp "$here/skills" --http 127.0.0.1:0 --timeout 60 2>server.log &
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

install_packages
node=$(echo "$PWD"/node_modules/node-linux-*/bin/node)
start_server
for revision in 2026-07-28 2025-11-25; do
    echo "conformance $revision"
    timeout 400 "$node" node_modules/.bin/conformance server --url "$url" --requirements "$revision" \
        --expected-failures "$here/expected-$revision.yml" >"conformance-$revision.log" 2>&1 ||
        { tail -60 "conformance-$revision.log"; exit 1; }
    tail -4 "conformance-$revision.log"
done
echo "inspector"
for era in modern legacy; do
    timeout 100 "$node" node_modules/.bin/mcp-inspector --cli "$url" --transport http --protocol-era "$era" \
        --method tools/list --strict >"inspector-$era.log" 2>&1 || { tail -40 "inspector-$era.log"; exit 1; }
    timeout 200 "$node" node_modules/.bin/mcp-inspector --cli "$url" --transport http --protocol-era "$era" \
        --method tools/call --tool-name test_simple_text --load --load-concurrency 100 --load-requests 1000 \
        >"load-$era.log" 2>&1 || { tail -40 "load-$era.log"; exit 1; }
    tail -12 "load-$era.log"
done
