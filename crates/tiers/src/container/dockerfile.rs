//! Refuses what an untrusted `Dockerfile` may not contain. `--network none` applies to the programs of a build only: `ADD`
//! downloads with the engine's own network access, which includes the operator's network, and options of `RUN` override
//! those of the build.
//!
//! This is not a parser: whatever parsers may read differently is refused too.

/// Why a `Dockerfile` is refused; `None` if it is accepted.
pub fn why_refused(text: &[u8], network: bool) -> Option<String> {
    let Ok(text) = std::str::from_utf8(text) else { return Some("it is no text".to_owned()) };
    let mut joined = String::new();
    let mut begun = false;
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.starts_with('#') {
            match parser_directive(line) {
                Some(name) => return Some(format!("its directive `{name}` changes how it is read")),
                None => continue,
            }
        }
        if line.ends_with("\\\\") {
            return Some("a line ends with two backslashes, which may or may not go on".to_owned());
        }
        // Each line is checked alone too, since parsers differ in which lines continue an instruction.
        if let Some(why) = refused_instruction(line, network) {
            return Some(why);
        }
        joined.push_str(line.strip_suffix('\\').unwrap_or(line));
        if line.ends_with('\\') {
            continue;
        }
        let whole = std::mem::take(&mut joined);
        if let Some(why) = refused_instruction(whole.trim(), network) {
            return Some(why);
        }
        // BuildKit also finds a parser directive in a first line of another form, such as `// syntax=` or JSON.
        if !begun && !whole.trim().is_empty() {
            begun = true;
            if !["FROM", "ARG"].contains(&&*first_word(whole.trim())) {
                return Some("it begins with neither `FROM` nor `ARG`".to_owned());
            }
        }
    }
    refused_instruction(joined.trim(), network)
}

/// The images that it uses, apart from its own stages and `BASE`. For Docker, which can't be told not to pull.
pub fn external_images(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).replace("\\\r\n", " ").replace("\\\n", " ");
    let (mut stages, mut images) = (vec!["scratch".to_owned()], Vec::new());
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut taken: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("--from=")).collect();
        if first_word(line) == "FROM" {
            let mut rest = words.iter().skip(1).filter(|word| !word.starts_with("--"));
            taken.extend(rest.next());
            if rest.next().is_some_and(|word| word.eq_ignore_ascii_case("as")) {
                stages.extend(rest.next().map(|name| name.to_ascii_lowercase()));
            }
        }
        let is_stage = |name: &str| stages.contains(&name.to_ascii_lowercase()) || name.parse::<u32>().is_ok();
        let is_base = |name: &str| matches!(name, "${BASE}" | "$BASE");
        images.extend(taken.into_iter().filter(|name| !is_stage(name) && !is_base(name)).map(str::to_owned));
    }
    images
}

/// The parser directive in a comment: `# syntax=…` selects another parser, `# escape=…` another escape character.
fn parser_directive(comment: &str) -> Option<&'static str> {
    let (name, _) = comment.trim_start_matches('#').split_once('=')?;
    ["syntax", "escape"].into_iter().find(|known| name.trim().eq_ignore_ascii_case(known))
}

fn first_word(line: &str) -> String {
    line.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_uppercase()
}

fn refused_instruction(line: &str, network: bool) -> Option<String> {
    let first = first_word(line);
    let rest = line[first.len()..].trim_start();
    match &*first {
        "ADD" if !network => {
            Some("`ADD` fetches from the network; `COPY` takes what is in the skill's folder".to_owned())
        }
        "ONBUILD" => Some("`ONBUILD` is not taken".to_owned()),
        "RUN" if rest.starts_with("--") => Some("options of `RUN` are not taken".to_owned()),
        _ if line.contains("<<") => Some("texts with `<<` are not taken".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_one_passes() {
        let plain = "# A comment: a=b\nARG BASE\nFROM ${BASE} AS one\n\nRUN apt-get update && \\\n    # why\n    \
                     apt-get install -y --no-install-recommends curl\nCOPY --from=one . /x\nCMD [\"python3\"]\n";
        assert_eq!(why_refused(plain.as_bytes(), false), None);
        assert_eq!(why_refused(b"FROM a\nADD x /x\n", true), None);
    }

    #[test]
    fn images_of_others_are_found_and_stages_are_none() {
        let text = "ARG BASE\nFROM ${BASE} AS One\nFROM --platform=linux/amd64 \\\n  a/b:1 as two\nCOPY --from=one x x\n\
                    COPY --chown=1 --from=2 x x\nCOPY --from=127.0.0.1:5/c x x\nFROM $OTHER\nFROM scratch\n";
        assert_eq!(external_images(text.as_bytes()), ["a/b:1", "127.0.0.1:5/c", "$OTHER"]);
    }

    #[test]
    fn what_gets_to_the_network_or_undoes_bounds_is_refused() {
        let refused = [
            "ADD http://127.0.0.1/x /x",
            "  add x /x",
            "ADD\thttp://x /x",
            "A\\\nDD http://x /x",
            "A\\\n# c\nDD http://x /x",
            "RUN x \\\\\nA\\\nDD http://x /x",
            "RUN x \\\n\nADD http://x /x",
            "ONBUILD ADD http://x /x",
            "RUN --network=host x",
            "RUN \\\n  --mount=type=cache,target=/x x",
            "run --security=insecure x",
            "RUN cat <<EOF\nx\nEOF",
        ];
        for text in refused {
            assert!(why_refused(format!("FROM a\n{text}\n").as_bytes(), false).is_some(), "{text:?}");
            assert!(why_refused(format!("FROM a\r\n{}\r\n", text.replace('\n', "\r\n")).as_bytes(), false).is_some());
        }
        for text in ["# escape=`\nFROM a", "#  Syntax = x/y\nFROM a", "// syntax=x\nFROM a", "{\"syntax\": \"x\"}"] {
            assert!(why_refused(text.as_bytes(), true).is_some(), "{text:?}");
        }
        assert!(why_refused(b"\xff\xfe", true).is_some());
    }
}
