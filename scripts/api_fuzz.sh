#!/bin/sh
# Fuzzes `skillcell serve` with schemathesis, by its own OpenAPI document, and validates that. Both tools are fetched with pip
# into a folder that is removed. Needs the program built: cargo build --release.
#
#   scripts/api_fuzz.sh [EXAMPLES]      # for each operation, 50 by default
set -eu
examples=${1:-50}
skillcell=${SKILLCELL:-target/release/skillcell}
address=127.0.0.1:18474
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
tools=${API_FUZZ_TOOLS:-$folder/tools}
if ! [ -d "$tools" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet schemathesis==4.32.5 openapi-spec-validator==0.9.0
fi
"$skillcell" serve tests/skills/contract/echo skills-compat/demo/nothing --listen "$address" --timeout 5s 2>"$folder/words" &
server=$!
url=http://$address
until curl -fs "$url/readyz" >/dev/null; do kill -0 "$server"; sleep 0.2; done
curl -fs "$url/openapi.json" >"$folder/openapi.json"
"$tools/bin/openapi-spec-validator" "$folder/openapi.json"
memory() { curl -fs "$url/metrics" | sed -n 's/^skillcell_\([a-z]*\)_memory_bytes //p' | tr '\n' ' '; }
echo "memory, with files and without: $(memory)"
# A body that the schema forbids may be taken where a skill's own schema decides, so that check is left out. More than one round,
# so that what grows is seen to level off: pages of files that are looked at for the first time do, and are the system's to take back.
for seed in 1 2 3; do
    "$tools/bin/schemathesis" run "$url/openapi.json" --max-examples "$examples" --workers 1 --no-shrink --seed "$seed" \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
        --suppress-health-check all
    echo "memory, with files and without: $(memory)"
done
curl -fs "$url/healthz" >/dev/null
if grep -i panic "$folder/words"; then exit 1; fi
