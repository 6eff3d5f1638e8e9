//! The first page: figures, skills, calls.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::calls::{CallRow, calls_section};
use super::figures::{Figures, format_time};
use super::verdicts::Verdict;
use super::{Page, render_page, sentence_markup, skill_path};
use crate::{Client, SkillActivity, Warmth};
use skillcell_host::plan::Decision;
use skillcell_quote::{brief, cut};

/// More than fit on a page that a person reads.
const MAX_SKILLS: usize = 500;
const MAX_SUMMARY_CHARS: usize = 300;
/// Lines of what a skill may do; its own page has all.
const MAX_LINES: usize = 4;

/// A skill as the list shows it.
struct SkillItem {
    id: String,
    warmth: Warmth,
    verdict: Option<Verdict>,
    /// Only of one that is ready.
    decision: Option<Decision>,
    activity: SkillActivity,
}

pub async fn show_overview(State(page): State<Page>, Extension(client): Extension<Client>) -> Response {
    let service = page.inner.api.service().clone();
    let recent: Vec<CallRow> = service.activity().recent().iter().map(|(at, event)| CallRow::new(*at, event)).collect();
    let figures = Figures::new(&service);
    let (items, left_out) = page.list_items(client).await;
    let main = html! {
        h1 { "Skills over HTTP" }
        div.columns { (figures.markup()) }
        (skills_section(&items, left_out))
        (calls_section(&recent))
    };
    render_page("Overview", &main).into_response()
}

impl Page {
    /// The skills that this client may see, and how many more there are.
    async fn list_items(&self, client: Client) -> (Vec<SkillItem>, usize) {
        let mut skills = self.inner.api.service().warmth();
        skills.retain(|(id, _)| client.may_call(id));
        let left_out = skills.len().saturating_sub(MAX_SKILLS);
        skills.truncate(MAX_SKILLS);
        let mut activity = self.inner.api.service().activity().skills();
        let page = self.clone();
        let _turn = self.inner.planning.acquire().await;
        let make = move || {
            let items = skills.into_iter().map(|(id, warmth)| SkillItem {
                verdict: page.inner.verdicts.get(&id),
                decision: page.decide_skill(&client, &id, &warmth),
                activity: activity.remove(&id).unwrap_or_default(),
                id,
                warmth,
            });
            items.collect()
        };
        (tokio::task::spawn_blocking(make).await.unwrap_or_default(), left_out)
    }

    /// What a call of this client would do, if that is known without waiting. It passes the queue by: the page answers while
    /// that is full.
    pub(super) fn decide_skill(&self, client: &Client, id: &str, warmth: &Warmth) -> Option<Decision> {
        // The manifest of one that waits may take a minute.
        if matches!(warmth, Warmth::Waiting) {
            return None;
        }
        self.inner.api.service().decide_call(client, id)?.ok()
    }
}

fn skills_section(items: &[SkillItem], left_out: usize) -> Markup {
    html! {
        section aria-labelledby="skills" {
            h2 #skills { "Skills" }
            ul.skills { @for item in items { li { (item_markup(item)) } } }
            @if items.is_empty() { p.note { "There is none that you may call." } }
            @if left_out > 0 { p.note { "And " (left_out) " more, which " code { "/v1/skills" } " has." } }
        }
    }
}

fn item_markup(item: &SkillItem) -> Markup {
    let summary = match &item.warmth {
        Warmth::Ready(card) => card.summary.as_deref().map(|text| cut(text, MAX_SUMMARY_CHARS)),
        // Of one whose calls are refused, the reasons follow.
        Warmth::Refused(_) => None,
        Warmth::Failed(why) => Some(cut(why, MAX_SUMMARY_CHARS)),
        Warmth::Waiting => None,
    };
    html! {
        article.card {
            h3 { a href=(skill_path(&item.id)) { (brief(&item.id)) } }
            p.badges { (badges(&item.warmth, item.verdict.as_ref(), item.decision.as_ref())) }
            @if let Some(summary) = summary { p { (sentence_markup(&summary)) } }
            @if let Some(decision) = &item.decision { (may_list(decision, MAX_LINES)) }
            (activity_line(&item.activity))
        }
    }
}

/// How far it is, what the analysis says, and whether its calls are refused.
pub fn badges(warmth: &Warmth, verdict: Option<&Verdict>, decision: Option<&Decision>) -> Markup {
    html! {
        @if !matches!(decision, Some(Decision::Refused(_))) { span.badge data-kind=(warmth.name()) { (warmth.name()) } }
        @if let Some(verdict) = verdict {
            " " span.badge data-kind=(verdict.name) { (verdict.name) }
        }
        @match decision {
            Some(Decision::Refused(_)) => { " " span.badge data-kind="refused" { "calls are refused" } }
            Some(Decision::Planned(plan)) => { " " span.badge data-kind="tier" { "in " (plan.tier) } }
            None => {}
        }
    }
}

/// What a call may do, at most so many lines of it; or why there is none.
pub fn may_list(decision: &Decision, most: usize) -> Markup {
    let lines = match decision {
        Decision::Planned(plan) => plan.effective.describe(),
        Decision::Refused(refused) => refused.denials.iter().map(|denial| denial.message.clone()).collect(),
    };
    html! {
        @if lines.is_empty() { p.may { "It may reach no files, network, secrets or variables." } }
        @else {
            ul.may {
                @for line in lines.iter().take(most) { li { (sentence_markup(&cut(line, MAX_SUMMARY_CHARS))) } }
                @if lines.len() > most { li { "and " (lines.len() - most) " more" } }
            }
        }
    }
}

fn activity_line(activity: &SkillActivity) -> Markup {
    let time = |share| activity.latency.percentile(share).map(format_time);
    let (Some(median), Some(slow)) = (time(0.5), time(0.99)) else { return html! { p.note { "Not called yet." } } };
    let outcomes: Vec<String> = activity.outcomes.iter().map(|(name, count)| format!("{count} {name}")).collect();
    html! { p.note { (outcomes.join(", ")) "; p50 " (median) ", p99 " (slow) "; " (activity.denials) " denied" } }
}
