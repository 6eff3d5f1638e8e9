//! The walk over schema and params together. Invariant: every schema that it meets has passed [`shape`],
//! so a keyword's value has the type that its draft wants.
//!
//! [`shape`]: super::shape

use super::datum::Datum;
use super::draft::Draft;
use super::faults::{Fault, Faults, Rank, Step};
use super::pattern::Patterns;
use super::refs::Refs;
use super::repr::repr;
use super::{Doubt, Steps, Stop};
use serde_json::{Map, Value};
use std::cmp::Reverse;

/// Python spends about three frames on a level, of the thousand that it has.
const MAX_LEVELS: usize = 96;

pub type Flow = Result<(), Stop>;

/// A schema and the value that it is held against.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub schema: &'a Map<String, Value>,
    pub datum: Datum<'a>,
}

pub struct Walk<'a> {
    pub draft: Draft,
    pub steps: Steps,
    pub refs: Refs<'a>,
    path: Vec<Step<'a>>,
    level: usize,
    patterns: Patterns<'a>,
}

impl<'a> Walk<'a> {
    pub fn new(root: &'a Value, draft: Draft, steps: Steps) -> Self {
        Self { draft, steps, refs: Refs::new(root, draft), path: Vec::new(), level: 0, patterns: Patterns::default() }
    }

    /// The fault that jsonschema would raise, if any.
    pub fn best(&mut self, schema: &'a Value, params: &'a Value) -> Result<Option<Fault<'a>>, Stop> {
        let mut faults = Faults::most_relevant();
        self.descend(schema, params.into(), &mut faults)?;
        Ok(faults.unrivalled())
    }

    /// Holds `datum` against `schema`.
    pub fn descend(&mut self, schema: &'a Value, datum: Datum<'a>, faults: &mut Faults<'a>) -> Flow {
        self.steps.spend(datum.weight())?;
        match schema {
            Value::Bool(true) => Ok(()),
            Value::Object(schema) => self.apply(Site { schema, datum }, faults),
            _ => self.enter(None, true, faults, move || Ok(format!("False schema does not allow {}", repr(datum)?))),
        }
    }

    /// The same, one step further into the params.
    pub fn descend_to(&mut self, step: Step<'a>, schema: &'a Value, datum: &'a Value, faults: &mut Faults<'a>) -> Flow {
        self.path.push(step);
        self.descend(schema, datum.into(), faults)?;
        self.path.pop();
        Ok(())
    }

    /// Whether `datum` has no fault. Ends at the first, as jsonschema does.
    pub fn is_valid(&mut self, schema: &'a Value, datum: Datum<'a>) -> Result<bool, Stop> {
        let (level, steps_in) = (self.level, self.path.len());
        let outcome = self.descend(schema, datum, &mut Faults::any());
        self.level = level;
        self.path.truncate(steps_in);
        match outcome {
            Ok(()) => Ok(true),
            Err(Stop::Found) => Ok(false),
            Err(doubt) => Err(doubt),
        }
    }

    /// Begins a competition between the faults below this place.
    pub fn rivals(&self) -> Faults<'a> {
        Faults::least_relevant(self.path.len())
    }

    /// Enters a fault at `site`.
    pub fn fault<W>(&self, site: Site<'a>, faults: &mut Faults<'a>, words: W) -> Flow
    where
        W: FnOnce() -> Result<String, Doubt> + 'a,
    {
        self.enter(Some(site), true, faults, words)
    }

    /// Enters the fault that no branch holds. A single least relevant one among `rivals` speaks for it.
    pub fn weak_fault<W>(&self, site: Site<'a>, rivals: Faults<'a>, faults: &mut Faults<'a>, words: W) -> Flow
    where
        W: FnOnce() -> Result<String, Doubt> + 'a,
    {
        let rank = self.rank(Some(site), false, faults);
        faults.enter(rank, || rivals.unrivalled().unwrap_or_else(|| self.make(words)))
    }

    fn enter<W>(&self, site: Option<Site<'a>>, is_strong: bool, faults: &mut Faults<'a>, words: W) -> Flow
    where
        W: FnOnce() -> Result<String, Doubt> + 'a,
    {
        let rank = self.rank(site, is_strong, faults);
        faults.enter(rank, || self.make(words))
    }

    fn make<W: FnOnce() -> Result<String, Doubt> + 'a>(&self, words: W) -> Fault<'a> {
        Fault { path: self.path.clone(), words: Box::new(words) }
    }

    fn rank(&self, site: Option<Site<'a>>, is_strong: bool, faults: &Faults<'a>) -> Rank {
        let wanted = site.and_then(|site| Some((site.schema.get("type")?, site.datum)));
        let has_type = wanted.is_some_and(|(types, datum)| self.has_type(types, datum));
        Rank { depth: Reverse(self.path.len() - faults.floor), is_strong, is_mistyped: !has_type }
    }

    /// Whether `datum` is of one of the types that the keyword `type` names.
    pub fn has_type(&self, types: &Value, datum: Datum<'a>) -> bool {
        let names = types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice);
        let mut names = names.iter().filter_map(Value::as_str);
        names.any(|name| datum.is_type(name, self.draft))
    }

    /// A member by its name.
    pub fn member(&mut self, dict: &'a Map<String, Value>, name: &str) -> Result<Option<&'a Value>, Stop> {
        self.steps.spend(Datum::Text(name).weight())?;
        Ok(dict.get(name))
    }

    /// Python's `re.search(pattern, text)`, as a yes or no.
    pub fn search(&mut self, pattern: &'a str, text: &str) -> Result<bool, Stop> {
        Ok(self.patterns.search(pattern, text, &mut self.steps)?)
    }

    fn apply(&mut self, site: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        if self.level == MAX_LEVELS {
            return Err(Doubt::Depth("walk over schema and params").into());
        }
        self.level += 1;
        self.steps.spend(site.schema.len())?;
        let reference = site.schema.get("$ref").filter(|_| self.draft.ref_stands_alone());
        if let Some(reference) = reference {
            self.keyword("$ref", reference, site, faults)?;
        } else {
            for (name, value) in site.schema {
                self.keyword(name, value, site, faults)?;
            }
        }
        self.level -= 1;
        Ok(())
    }
}
