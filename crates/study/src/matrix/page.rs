//! The matrix as one HTML page that needs nothing but itself: the answer, the table, and the evidence behind each cell.
//!
//! Everything in it that came from a skill is untrusted: `maud` escapes markup, and the finished page has no characters
//! that reorder or hide others. As defence in depth, the page's Content-Security-Policy allows only the script and the
//! style that it names by hash.

mod evidence;
mod scripts;
mod summary;
mod table;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::model::Matrix;
use skillcell_quote::escape_unprintable;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The page.
pub fn render_page(matrix: &Matrix) -> String {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        csp_hash(STYLE),
        csp_hash(SCRIPT)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (registry_title(matrix)) ": which skills run in WebAssembly" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#skills" { "Skip to the table" }
                main { (summary::summary_section(matrix)) (table::skills_table(matrix)) (how_to_read(matrix)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    escape_unprintable(&page.into_string()) + "\n"
}

fn registry_title(matrix: &Matrix) -> String {
    let registry = &matrix.registry;
    registry.version.as_ref().map_or_else(|| registry.name.clone(), |version| format!("{} {version}", registry.name))
}

/// The hash by which a Content-Security-Policy names a script or style.
fn csp_hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A sentence, with what is in backticks as code.
fn sentence_markup(text: &str) -> Markup {
    if !text.matches('`').count().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// An id in which lines may break between words.
fn breakable_id(id: &str) -> Markup {
    html! {
        @for word in id.split_inclusive(['/', '_']) {
            (word) @if word.ends_with(['/', '_']) { wbr; }
        }
    }
}

/// The anchor of a skill's row, for links. An id with unusual characters is replaced by the row's index.
fn row_anchor(matrix: &Matrix, skill: &str) -> String {
    let is_plain = skill.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.'));
    if is_plain {
        return format!("skill-{skill}");
    }
    format!("row-{}", matrix.skills.iter().position(|row| row.id == skill).unwrap_or_default())
}

/// A skill's name as a link to its row.
fn skill_link(matrix: &Matrix, skill: &str) -> Markup {
    html! { a href={ "#" (row_anchor(matrix, skill)) } { (breakable_id(skill)) } }
}

/// A class name for a verdict.
fn verdict_class(verdict: Option<&str>) -> &'static str {
    match verdict {
        Some("runs") => "runs",
        Some("runs with grants") => "grants",
        Some("partly") => "partly",
        Some("not in wasm") => "not",
        _ => "unknown",
    }
}

fn how_to_read(matrix: &Matrix) -> Markup {
    html! {
        section.how aria-labelledby="how" {
            h2 #how { "How to read it" }
            dl {
                dt { "Tests in cells" }
                dd {
                    "The skill's own pytest files, run inside cells (" (matrix.runtime) "), with nothing granted. A file that \
                     can't be imported counts as one error, however many tests it has."
                }
                dt { "Natively" }
                dd {
                    "The same files in a virtual environment with all required packages, outside any sandbox. Python: "
                    (matrix.native_python.as_deref().unwrap_or("not run")) "."
                }
                dt { "Calls alike" }
                dd {
                    "Recorded calls that give in a cell what they gave outside, down to the last digit of the JSON, and make \
                     the same HTTP requests, which are answered as recorded. Below it, how many of those that do succeed; the \
                     others report an error or raise, and have to do that in a cell too."
                }
                dt { "Pyodide" }
                dd {
                    @if matrix.totals.tests_in_pyodide.is_some() {
                        "The same files in " (matrix.pyodide) ", with those packages of a cell that are Python; what is in \
                         Pyodide's own distribution comes from a CDN and is not fetched. The evidence has the packages that it \
                         would have."
                    } @else {
                        "How many of the required packages, with all that these pull in, " (matrix.pyodide)
                        " has or can load as pure wheels."
                    }
                    " It says nothing about isolation: on Node.js, Pyodide is not a sandbox."
                }
                dt { "Best tier" }
                dd {
                    "The least tier that has what it needs, named only if its own tests ran there; " i { "not tried" }
                    " if they did not, " i { "none" } " if no isolated tier has it. Of a skill that runs partly, what no tier has does not count. A cell (wasm) is held by WebAssembly; a \
                     container and a sandboxed subprocess run native packages and are held by the kernel; what a subprocess \
                     runs, a container does too."
                }
                dt { "Call, Process" }
                dd {
                    "A call in a fresh cell against a fresh Python process that loads the skill and calls it once. The call is \
                     the skill's first recorded one that succeeds, and the evidence names it; a skill without one has no \
                     figures. HTTP requests are answered on this machine. " (matrix.figures.machine)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
