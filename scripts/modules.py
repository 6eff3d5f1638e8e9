#!/usr/bin/env python3
"""Prints the graph of the rooms: each crate with those that it uses, then the modules inside of crates, then every cycle.

    scripts/modules.py             the graph, what is used before what uses it
    scripts/modules.py --check     the same, and exit code 1 if there is a cycle
    scripts/modules.py … FOLDER    of one crate's sources only

Crates are read from `Cargo.toml`. Of a crate's modules those count that it offers to others (`pub mod` in `lib.rs`): private
ones are the files of one room. Read from its sources: `crate::name`, `crate::{a, b}`, and the names that `lib.rs` exports.
Comments, strings and test code don't count.
"""

import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Roots of crates, which use everything.
ROOTS = {"lib", "main"}


def without_comments_and_strings(text):
    """Blanks what is no code. Raw strings first: they may hold quotes and slashes."""
    kinds = r'r(#+)".*?"\1|b?"(?:\\.|[^"\\])*"' + r"|'(?:\\.[^']*|[^'\\\n])'" + r"|//[^\n]*|/\*.*?\*/"
    return re.sub(kinds, lambda found: '""' if found[0][-1] == '"' else " ", text, flags=re.S)


def without_tests(text):
    """Cuts the item below every `#[cfg(test)]`: to its semicolon, or to the brace that closes it."""
    while found := re.search(r"#\[cfg\((?:test\b|all\(test\b)[^\]]*\]", text):
        end, depth = found.end(), 0
        for end in range(found.end(), len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0 and text[end] in ";}":
                break
        text = text[: found.start()] + text[end + 1 :]
    return text


def first_names(group):
    """The first name of each path in `{a::b, c::{d, e}}`, read from after its brace."""
    names, depth, path = [], 0, ""
    for char in group:
        if char == "}" and depth == 0:
            break
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            names.append(path)
            path = ""
        else:
            path += char
    return [match[0] for name in names + [path] if (match := re.match(r"\w+", name.strip()))]


def used_names(text):
    for found in re.finditer(r"\bcrate::(\w+|\{)", text):
        yield from first_names(text[found.end() :]) if found[1] == "{" else [found[1]]


def exported_names(lib):
    """Which module each `pub use module::Name` of lib.rs comes from."""
    homes = {}
    for module, names in re.findall(r"pub use (?:self::)?(\w+)::(?:\w+::)*(\{[^}]*\}|\w+);", lib):
        homes.update((name, module) for name in re.findall(r"\w+", names))
    return homes


def is_test_file(path):
    return any(part in ("tests", "tests.rs") for part in path.parts)


def read_graph(sources):
    lib = without_comments_and_strings((sources / "lib.rs").read_text())
    homes = exported_names(lib)
    modules = set(re.findall(r"^pub mod (\w+);", without_tests(lib), re.M))
    graph = {module: defaultdict(list) for module in modules}
    for path in sorted(sources.rglob("*.rs")):
        place = path.relative_to(sources)
        module = place.parts[0].removesuffix(".rs")
        if module in ROOTS or module not in modules or is_test_file(place):
            continue
        for name in used_names(without_tests(without_comments_and_strings(path.read_text()))):
            used = homes.get(name, name)
            if used in modules and used != module and str(place) not in graph[module][used]:
                graph[module][used].append(str(place))
    return graph


def strongly_connected(graph):
    """Tarjan's algorithm: groups of modules that reach each other, what is used before what uses it."""
    index, low, stack, groups = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for used in sorted(graph[module]):
            if used not in index:
                visit(used)
                low[module] = min(low[module], low[used])
            elif used in stack:
                low[module] = min(low[module], index[used])
        if low[module] == index[module]:
            at = stack.index(module)
            groups.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return groups


def read_crates():
    """Which crate uses which, without what only tests use."""
    graph = {}
    for path in [ROOT / "Cargo.toml", *sorted(ROOT.glob("crates/*/Cargo.toml"))]:
        manifest = tomllib.loads(path.read_text())
        used = [name for name in manifest.get("dependencies", {}) if name.startswith("skillcell-")]
        graph[short(manifest["package"]["name"])] = {short(name): ["Cargo.toml"] for name in used}
    return graph


def short(name):
    return name.removeprefix("skillcell-")


def print_graph(graph, indent=""):
    """Returns whether it has a cycle."""
    groups = strongly_connected(graph)
    for module in (module for group in groups for module in group):
        print(f"{indent}{module:<10} {' '.join(sorted(graph[module])) or '-'}")
    cycles = [group for group in groups if len(group) > 1]
    for group in cycles:
        print(f"\ncycle: {' '.join(group)}")
        for module in group:
            for used in sorted(set(graph[module]) & set(group)):
                print(f"  {module} uses {used}: {', '.join(graph[module][used])}")
    return bool(cycles)


def print_workspace():
    has_cycle = print_graph(read_crates())
    for sources in sorted(ROOT.glob("crates/*/src")):
        graph = read_graph(sources)
        if len(graph) > 1:
            print(f"\n{sources.parent.name}")
            has_cycle |= print_graph(graph, "  ")
    return has_cycle


def main():
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    flags = set(sys.argv[1:]) - set(folders)
    if flags - {"--check"} or len(folders) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    has_cycle = print_graph(read_graph(Path(folders[0]))) if folders else print_workspace()
    if not has_cycle:
        print("\nno cycle")
    return 1 if has_cycle and "--check" in flags else 0


if __name__ == "__main__":
    sys.exit(main())
