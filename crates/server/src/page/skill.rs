//! A skill's page: what it says of itself, what a call would do, a form, and how the call that the form made ended.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::form::{Filled, Mistakes, make_params, read_fields};
use super::form_markup::{FormView, JSON_FIELD};
use super::overview::{badges, may_list};
use super::report::report_section;
use super::verdicts::Verdict;
use super::{Page, render_page, sentence_markup, tell};
use crate::api::read_form;
use crate::{CallError, CallRequest, Client, Problem, RequestInfo, SkillCard, Warmth};
use skillcell_host::plan::{Decision, Plan};
use skillcell_quote::{brief, cut};

const MAX_WORDS_CHARS: usize = 1000;
const MAX_LINES: usize = 100;
const MAX_JSON_CHARS: usize = 16 << 10;

/// A skill that is shown.
struct Shown {
    client: Client,
    id: String,
    warmth: Warmth,
    card: SkillCard,
    verdict: Option<Verdict>,
    decision: Option<Decision>,
}

/// What a form brought, and what came of it.
#[derive(Default)]
struct Tried {
    filled: Filled,
    mistakes: Mistakes,
    ended: Markup,
}

type PathId = Result<Path<String>, PathRejection>;

pub async fn show_skill(State(page): State<Page>, Extension(client): Extension<Client>, id: PathId) -> Response {
    match page.find_shown(client, id).await {
        Some(shown) => shown.render(&Tried::default(), StatusCode::OK),
        None => no_such_skill(),
    }
}

pub async fn try_call(
    State(page): State<Page>,
    Extension(client): Extension<Client>,
    Extension(info): Extension<RequestInfo>,
    id: PathId,
    request: Request,
) -> Response {
    let Some(shown) = page.find_shown(client, id).await else { return no_such_skill() };
    let filled = match read_form(&page.inner.api, request).await {
        Ok(filled) => filled,
        Err(problem) => return tell_problem(&problem),
    };
    let params = match params_of(&shown.card, &filled) {
        Ok(params) => params,
        Err(mistakes) => {
            return shown.render(&Tried { filled, mistakes, ..Tried::default() }, StatusCode::UNPROCESSABLE_ENTITY);
        }
    };
    let mut call = CallRequest::new(&shown.id, params);
    call.origin = Some(info.origin());
    // A browser that stops loading drops this, which cancels the call.
    match page.inner.api.service().call(&shown.client, call).await {
        Ok(report) => {
            shown.render(&Tried { filled, ended: report_section(&report), ..Tried::default() }, StatusCode::OK)
        }
        Err(error) => {
            let (ended, status) = (error_section(&error), Problem::from(error).status());
            shown.render(&Tried { filled, ended, ..Tried::default() }, status)
        }
    }
}

fn params_of(card: &SkillCard, filled: &Filled) -> Result<String, Mistakes> {
    let Some(text) = filled.get(JSON_FIELD) else {
        return make_params(&read_fields(card.parameters.as_ref()).0, filled);
    };
    let wrong = |words: String| Mistakes::from([(JSON_FIELD.to_owned(), words)]);
    match serde_json::from_str::<serde_json::Map<String, Value>>(text) {
        // As it was written, digit for digit.
        Ok(_) => Ok(text.clone()),
        Err(error) => Err(wrong(format!("this is not a JSON object: {error}"))),
    }
}

fn no_such_skill() -> Response {
    tell(StatusCode::NOT_FOUND, "There is no such skill", "It is not served, or not to this token.")
}

fn tell_problem(problem: &Problem) -> Response {
    tell(problem.status(), "Nothing was called", problem.detail())
}

/// The operator's page has the host's own words.
fn error_section(error: &CallError) -> Markup {
    html! {
        section.result #result aria-labelledby="ended" tabindex="-1" autofocus {
            h2 #ended { "The call: " span.badge data-kind="error" { "not made" } }
            p { (sentence_markup(&cut(&error.to_string(), MAX_WORDS_CHARS))) }
        }
    }
}

impl Page {
    async fn find_shown(&self, client: Client, id: PathId) -> Option<Shown> {
        let Path(id) = id.ok()?;
        let service = self.inner.api.service();
        service.skill_for(&client, &id)?;
        let warmth = service.warmth_of(&id)?;
        let (page, verdict) = (self.clone(), self.inner.verdicts.get(&id));
        let _turn = self.inner.planning.acquire().await;
        let make = move || {
            let decision = page.decide_skill(&client, &id, &warmth);
            let card = page.read_card(&id, &warmth);
            Shown { client, id, warmth, card, verdict, decision }
        };
        tokio::task::spawn_blocking(make).await.ok()
    }
}

impl Page {
    /// What a skill says of itself; nothing while its manifest would have to be waited for, or makes no sense.
    fn read_card(&self, id: &str, warmth: &Warmth) -> SkillCard {
        let service = self.inner.api.service();
        match warmth {
            Warmth::Ready(card) => (**card).clone(),
            Warmth::Waiting => SkillCard::default(),
            Warmth::Refused(_) | Warmth::Failed(_) => {
                let manifest = service.catalogue().get(id).and_then(|skill| service.host().manifest(skill).ok());
                manifest.map(|manifest| SkillCard::new(&manifest)).unwrap_or_default()
            }
        }
    }
}

impl Shown {
    fn render(&self, tried: &Tried, status: StatusCode) -> Response {
        let (fields, is_cut) = read_fields(self.card.parameters.as_ref());
        let form = FormView { id: &self.id, fields: &fields, is_cut, filled: &tried.filled, mistakes: &tried.mistakes };
        let main = html! {
            h1 { (brief(&self.id)) }
            p.badges { (badges(&self.warmth, self.verdict.as_ref(), self.decision.as_ref())) }
            (tried.ended)
            (self.about_section())
            div.columns { (self.plan_section()) (form.markup()) }
        };
        (status, render_page(&brief(&self.id), &main)).into_response()
    }

    fn about_section(&self) -> Markup {
        let version = self.card.version.as_deref().map(brief);
        html! {
            @if let Some(summary) = &self.card.summary { p.lead { (cut(summary, MAX_WORDS_CHARS)) } }
            @match &self.warmth {
                Warmth::Waiting => { p.lead { "It is being got ready, and its manifest is not read yet: load this page again in a while." } }
                // The plan says why.
                Warmth::Refused(_) => {}
                Warmth::Failed(why) => { p.mistake { (sentence_markup(&cut(why, MAX_WORDS_CHARS))) } }
                Warmth::Ready(_) => {}
            }
            @if let Some(version) = version { p.note { "Version " (version) } }
            @if let Some(Verdict { name, reason: Some(reason) }) = &self.verdict {
                p.note { "Analysis: " (name) ", " (sentence_markup(&cut(reason, MAX_WORDS_CHARS))) }
            }
        }
    }

    fn plan_section(&self) -> Markup {
        html! {
            section aria-labelledby="may" {
                h2 #may { "What it may do" }
                @match &self.decision {
                    Some(decision) => {
                        @if matches!(decision, Decision::Refused(_)) { p { "Its calls are refused:" } }
                        (may_list(decision, MAX_LINES))
                        @if let Decision::Planned(plan) = decision { (plan_details(plan)) }
                    }
                    None => { p.note { "That is not known yet." } }
                }
                @if let Some(permissions) = &self.card.permissions {
                    details { summary { "What its manifest asks for" } pre tabindex="0" { "\n" (show_json(permissions)) } }
                }
            }
        }
    }
}

fn plan_details(plan: &Plan) -> Markup {
    let effective = &plan.effective;
    html! {
        @if !effective.missing.is_empty() {
            h3 { "What it asks for and is not granted" }
            ul { @for missing in effective.missing.iter().take(MAX_LINES) { li { (sentence_markup(&cut(&missing.message(), MAX_WORDS_CHARS))) } } }
        }
        h3 { "Where it runs" }
        p { (sentence_markup(&cut(&plan.describe_tier(), MAX_WORDS_CHARS))) }
        details {
            summary { "Limits" }
            dl.pairs { @for (name, amount) in plan.limits.amounts() { div { dt { (name) } dd { (amount) } } } }
        }
    }
}

fn show_json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    match text.char_indices().nth(MAX_JSON_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
