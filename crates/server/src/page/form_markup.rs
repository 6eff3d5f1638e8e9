//! The form of a skill as HTML: a label, a description and, after a mistake, what is wrong, tied to each field.

use maud::{Markup, html};

use super::form::{Field, Filled, Input, Mistakes};
use super::skill_path;
use skillcell_quote::cut;

const MAX_OPTION_CHARS: usize = 100;
/// Of the field for all params at once.
pub const JSON_FIELD: &str = "json";

/// What to show in a form.
pub struct FormView<'a> {
    pub id: &'a str,
    pub fields: &'a [Field],
    /// The schema has more fields than are shown.
    pub is_cut: bool,
    pub filled: &'a Filled,
    pub mistakes: &'a Mistakes,
}

impl FormView<'_> {
    pub fn markup(&self) -> Markup {
        let is_json = self.fields.is_empty() || self.filled.contains_key(JSON_FIELD);
        html! {
            section.try aria-labelledby="try" {
                h2 #try { "Try a call" }
                p.note { "It runs as any call does, with the grants and limits on this page." }
                @if !self.mistakes.is_empty() { p.mistake role="alert" { "Nothing was called: look at what is marked below." } }
                @if !self.fields.is_empty() {
                    form method="post" action=(skill_path(self.id)) autocomplete="off" {
                        @for field in self.fields { (self.field_markup(field)) }
                        @if self.is_cut { p.note { "It has more params than are shown: write them as JSON." } }
                        p { button type="submit" { "Call" } }
                    }
                }
                details open[is_json] {
                    summary { "Params as JSON" }
                    (self.json_form())
                }
            }
        }
    }

    fn json_form(&self) -> Markup {
        let text = self.filled.get(JSON_FIELD).map_or("{}", String::as_str);
        html! {
            form method="post" action=(skill_path(self.id)) autocomplete="off" {
                div.field {
                    label for=(JSON_FIELD) { "All params, a JSON object" }
                    textarea id=(JSON_FIELD) name=(JSON_FIELD) rows="6" spellcheck="false" required
                        aria-invalid=[self.mistakes.contains_key(JSON_FIELD).then_some("true")] aria-describedby=[self.described_by(JSON_FIELD, false)] {
                        "\n" (text)
                    }
                    (self.mistake_markup(JSON_FIELD))
                }
                p { button type="submit" { "Call with this JSON" } }
            }
        }
    }

    fn field_markup(&self, field: &Field) -> Markup {
        html! {
            div.field {
                label for=(field.name) {
                    (field.label) " " span.note { (kind_word(&field.input)) @if field.is_required { ", required" } }
                }
                (self.input_markup(field))
                @if has_hint(field) {
                    p.note id={ (field.name) "-hint" } {
                        @if let Some(description) = &field.description { (description) " " }
                        @if let Some(default) = &field.default { "Default: " code { (default) } }
                    }
                }
                (self.mistake_markup(&field.name))
            }
        }
    }

    fn input_markup(&self, field: &Field) -> Markup {
        let value = self.filled.get(&field.name).map_or("", String::as_str);
        let (name, described) = (&field.name, self.described_by(&field.name, has_hint(field)));
        let invalid = self.mistakes.contains_key(name).then_some("true");
        // An empty text is a text, so a browser is not asked to insist on one.
        let required = field.is_required && field.input != Input::Text;
        html! {
            @match &field.input {
                Input::Number => {
                    input id=(name) name=(name) type="number" step="any" value=(value) required[required]
                        aria-invalid=[invalid] aria-describedby=[described];
                }
                Input::Text => {
                    textarea id=(name) name=(name) rows="2" aria-invalid=[invalid] aria-describedby=[described] { "\n" (value) }
                }
                Input::Json => {
                    textarea id=(name) name=(name) rows="3" spellcheck="false" required[required]
                        aria-invalid=[invalid] aria-describedby=[described] { "\n" (value) }
                }
                Input::Truth => { (select_markup(field, described, &["true", "false"].map(|word| (word.to_owned(), word.to_owned())), value)) }
                Input::Choice(options) => {
                    @let named: Vec<_> = options.iter().enumerate().map(|(place, option)| (place.to_string(), option_word(option))).collect();
                    (select_markup(field, described, &named, value))
                }
            }
        }
    }

    fn described_by(&self, name: &str, has_hint: bool) -> Option<String> {
        let hint = has_hint.then(|| format!("{name}-hint"));
        let mistake = self.mistakes.contains_key(name).then(|| format!("{name}-mistake"));
        let ids: Vec<String> = hint.into_iter().chain(mistake).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn mistake_markup(&self, name: &str) -> Markup {
        html! {
            @if let Some(mistake) = self.mistakes.get(name) { p.mistake id={ (name) "-mistake" } { (mistake) } }
        }
    }
}

/// Options by what is sent and what is shown; the first sends nothing.
fn select_markup(field: &Field, described: Option<String>, options: &[(String, String)], value: &str) -> Markup {
    html! {
        select id=(field.name) name=(field.name) required[field.is_required] aria-describedby=[described] {
            option value="" selected[value.is_empty()] { "not given" }
            @for (sent, shown) in options { option value=(sent) selected[value == sent] { (shown) } }
        }
    }
}

fn option_word(option: &serde_json::Value) -> String {
    cut(&option.as_str().map_or_else(|| option.to_string(), str::to_owned), MAX_OPTION_CHARS)
}

fn has_hint(field: &Field) -> bool {
    field.description.is_some() || field.default.is_some()
}

fn kind_word(input: &Input) -> &'static str {
    match input {
        Input::Text => "text",
        Input::Number => "number",
        Input::Truth => "true or false",
        Input::Choice(_) => "one of these",
        Input::Json => "JSON",
    }
}

#[cfg(test)]
mod tests {
    use super::super::form::{make_params, read_fields};
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_skill_and_a_client_wrote_is_only_text_and_mistakes_are_tied_to_their_fields() {
        let evil = "\"><script>alert(1)</script>";
        let schema = json!({"required": ["n"], "properties": {
            (evil): {"type": "string", "description": evil, "default": evil}, "n": {"type": "number"}, "c": {"enum": [evil]},
        }});
        let (fields, is_cut) = read_fields(Some(&schema));
        let filled = Filled::from([("f0".to_owned(), evil.to_owned()), ("f1".to_owned(), evil.to_owned())]);
        let mistakes = make_params(&fields, &filled).unwrap_err();
        let view = FormView { id: evil, fields: &fields, is_cut, filled: &filled, mistakes: &mistakes };
        let page = view.markup().into_string();
        assert!(!page.contains("<script") && !page.contains("\"><s"), "{page}");
        assert!(page.contains("aria-invalid=\"true\" aria-describedby=\"f1-mistake\""), "{page}");
        assert!(page.contains("id=\"f1-mistake\"") && page.contains("<label for=\"f1\""), "{page}");
        assert!(!page.contains("<details open"), "{page}");
    }
}
