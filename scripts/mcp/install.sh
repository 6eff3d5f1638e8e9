#!/bin/sh
# Fetches what MCP is tested with into a folder, by name and version, once.
#
#     install.sh python FOLDER    the official Python client, in FOLDER/python
#     install.sh node FOLDER      Node 22, the TypeScript client, the conformance suite and the inspector, in FOLDER/node
#
# Exit code 77: they can't be had here.
set -eu
mkdir -p "$2/$1"
cd "$2/$1"
[ -f installed ] && exit 0
case $1 in
python)
    python3 -m venv --clear venv >log 2>&1 && timeout 300 venv/bin/pip install mcp==2.3.0 >>log 2>&1 || exit 77
    ;;
node)
    # npm's `node` package is installed by a script of its own, which many an npm does not run: this is what that fetches.
    platform=$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
    echo '{"private": true}' >package.json
    timeout 300 npm install --no-audit --no-fund --ignore-scripts "node-linux-$platform@22.23.3" \
        @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 \
        @modelcontextprotocol/inspector@2.12.0 >log 2>&1 || exit 77
    ln -sf "node_modules/node-linux-$platform/bin/node" node
    ./node --version >/dev/null 2>&1 || exit 77
    ;;
esac
touch installed
