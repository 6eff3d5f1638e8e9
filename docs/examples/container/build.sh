#!/bin/sh
# Makes a container image of skillcell with the images of the skills you name baked in:
#
#     docs/examples/container/build.sh skillcell:local optimization/prompt_rewriter ./my_skill
#
# Nothing of a distribution is in it: the program, the four libraries that it is linked with, certificates, the cache. Its
# compiled code is for processors like this machine's. Needs podman, or docker with ENGINE=docker.
set -eu
tag=${1:?usage: build.sh TAG SKILL...}
shift
engine=${ENGINE:-podman}
program=${SKILLCELL:-$(command -v skillcell)}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
root=$context/root
mkdir -p "$root/usr/bin" "$root/etc/ssl/certs" "$root/etc/skillcell" "$root/skills" "$root/tmp"
cp -L "$program" "$root/usr/bin/skillcell"
# The libraries where the program looks for them; the kernel's own has no path.
ldd "$program" | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} "$root"
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"

# Folders go along; ids are served from the registry in the cache.
served=
for skill in "$@"; do
    if [ -d "$skill" ]; then
        cp -rL "$skill" "$root/skills/"
        skill=/skills/$(basename "$skill")
        "$program" --cache-dir "$root/var/cache/skillcell" build "$root$skill"
    else
        "$program" --cache-dir "$root/var/cache/skillcell" build "$skill"
    fi
    served="$served, \"$skill\""
done
sed "s#@SKILLS@#${served#, }#" "$here/Containerfile" > "$context/Containerfile"
"$engine" build --tag "$tag" --file "$context/Containerfile" "$context"
echo "run it: $engine run --rm --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges \\"
echo "    --volume ./skillcell.toml:/etc/skillcell/skillcell.toml:ro --publish 127.0.0.1:8080:8080 $tag"
