//! The matrix as one HTML page that needs nothing but itself: the answer, the table, and the evidence behind each cell.
//!
//! Everything in it that came from a skill is a stranger's text and passes through [`esc`]. As a second lock, the page's
//! own policy lets a browser run only the script and the style that are named by hash here.

mod answer;
mod evidence;
mod table;

use sha2::{Digest, Sha256};

use super::model::Matrix;
use crate::http::base64;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The page.
pub fn page(matrix: &Matrix) -> String {
    let name = registry(matrix);
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(SCRIPT)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name}: which skills run in WebAssembly</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#skills\">Skip to the table</a>\n<main>\n{}{}{}</main>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        answer::answer(matrix),
        table::table(matrix),
        how_to_read(matrix),
        name = esc(&name),
    )
}

fn registry(matrix: &Matrix) -> String {
    let registry = &matrix.registry;
    registry.version.as_ref().map_or_else(|| registry.name.clone(), |version| format!("{} {version}", registry.name))
}

/// How a policy names a text.
fn source(text: &str) -> String {
    format!("sha256-{}", String::from_utf8_lossy(&base64::encode(&Sha256::digest(text.as_bytes()))))
}

/// Text as HTML, in an element or in a quoted attribute.
fn esc(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            // Marks that reorder what is around them, and what no page should hold.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// A sentence as HTML, with what is in backticks as code.
fn sentence(text: &str) -> String {
    if !text.matches('`').count().is_multiple_of(2) {
        return esc(text);
    }
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { esc(part) } else { format!("<code>{}</code>", esc(part)) }).collect()
}

/// An id, which may be broken where its words end.
fn id(id: &str) -> String {
    esc(id).replace('/', "/<wbr>").replace('_', "_<wbr>")
}

/// The name of a skill's row in the page, so that a link can lead to it. An odd id is not in it: it may be anything.
fn anchor(matrix: &Matrix, skill: &str) -> String {
    let is_plain = skill.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.'));
    if is_plain {
        return format!("skill-{skill}");
    }
    format!("row-{}", matrix.skills.iter().position(|row| row.id == skill).unwrap_or_default())
}

/// A skill's name as a link to its row.
fn link(matrix: &Matrix, skill: &str) -> String {
    format!("<a href=\"#{}\">{}</a>", anchor(matrix, skill), id(skill))
}

/// A class name for a verdict.
fn tone(verdict: Option<&str>) -> &'static str {
    match verdict {
        Some("runs") => "runs",
        Some("runs with grants") => "grants",
        Some("partly") => "partly",
        Some("not in wasm") => "not",
        _ => "unknown",
    }
}

fn how_to_read(matrix: &Matrix) -> String {
    let native = matrix.native_python.as_deref().unwrap_or("not run");
    let pyodide = esc(&matrix.pyodide);
    let pyodide = if matrix.totals.tests_in_pyodide.is_some() {
        format!(
            "The same files in {pyodide}, with those packages of a cell that are Python; what is in Pyodide's own \
             distribution comes from a CDN and is not fetched. The evidence has the packages that it would have."
        )
    } else {
        format!(
            "How many of the required packages, with all that these pull in, {pyodide} has or can load as pure wheels."
        )
    };
    format!(
        "<section class=\"how\" aria-labelledby=\"how\"><h2 id=\"how\">How to read it</h2><dl>\
         <dt>Tests in cells</dt><dd>The skill's own pytest files, run inside cells ({}), with nothing granted. A file that \
         can't be imported counts as one error, however many tests it has.</dd>\
         <dt>Natively</dt><dd>The same files in a virtual environment with all required packages, outside any sandbox. \
         Python: {}.</dd>\
         <dt>Calls alike</dt><dd>Recorded calls that give in a cell what they gave outside, down to the last digit of the \
         JSON, and make the same HTTP requests, which are answered as recorded. Below it, how many of those that do succeed; the others \
         report an error or raise, and have to do that in a cell too.</dd>\
         <dt>Pyodide</dt><dd>{} It says nothing about isolation: on Node.js, Pyodide is not a sandbox.</dd>\
         <dt>Best tier</dt><dd>The least tier that has what it needs, named only if its own tests ran there; <i>not tried</i> \
         if they did not, <i>none</i> if no isolated tier has it. Of a skill that runs partly, what no tier has does not count. A cell (wasm) is held by WebAssembly; a container and a sandboxed \
         subprocess run native packages and are held by the kernel; what a subprocess runs, a container does too.</dd>\
         <dt>Call, Process</dt><dd>A call in a fresh cell against a fresh Python process that loads the skill and calls it \
         once. The call is the skill's first recorded one that succeeds, and the evidence names it; a skill without one has no \
         figures. HTTP requests are answered on this machine. {}</dd></dl></section>\n",
        esc(&matrix.runtime),
        esc(native),
        pyodide,
        esc(&matrix.figures.machine),
    )
}

#[cfg(test)]
mod tests;
