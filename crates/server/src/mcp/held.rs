//! Results that are longer than clients take, held for whoever asked for them: bounded in number, bytes and time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Client;

/// What a client takes of one result: about 25,000 tokens.
pub const PART_BYTES: usize = 100_000;
const MAX_RESULTS: usize = 256;
const MAX_BYTES: usize = 128 << 20;
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// What is held: a text that is read in parts, or a file that a script wrote.
#[derive(Clone)]
pub enum Content {
    Text(Arc<str>),
    File(Arc<[u8]>, &'static str),
}

impl Content {
    fn len(&self) -> usize {
        match self {
            Content::Text(text) => text.len(),
            Content::File(bytes, _) => bytes.len(),
        }
    }
}

/// Results by handle, oldest first.
#[derive(Default)]
pub struct HeldResults(Mutex<VecDeque<Held>>);

struct Held {
    handle: String,
    /// Whose it is; nobody else is told that it is there.
    client: Option<String>,
    content: Content,
    since: Instant,
}

impl HeldResults {
    /// Keeps a result; the handle is not to be guessed. None if there is no randomness to make one of.
    pub fn keep(&self, client: &Client, text: &str) -> Option<String> {
        self.keep_content(client, Content::Text(text.into()))
    }

    /// Keeps a file, of this type, in the same way.
    pub fn keep_bytes(&self, client: &Client, bytes: &[u8], mime_type: &'static str) -> Option<String> {
        self.keep_content(client, Content::File(bytes.into(), mime_type))
    }

    fn keep_content(&self, client: &Client, content: Content) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let handle: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut held = self.lock();
        held.push_back(Held { handle: handle.clone(), client: client.name.clone(), content, since: Instant::now() });
        let too_much = |held: &VecDeque<Held>| {
            held.len() > MAX_RESULTS || held.iter().map(|held| held.content.len()).sum::<usize>() > MAX_BYTES
        };
        while too_much(&held) {
            held.pop_front();
        }
        Some(handle)
    }

    /// A result of this client's, unless it is gone.
    pub fn find(&self, client: &Client, handle: &str) -> Option<Content> {
        let mut all = self.lock();
        all.retain(|held| held.since.elapsed() < LIFETIME);
        let is_meant = |held: &&Held| held.handle == handle && held.client == client.name;
        all.iter().find(is_meant).map(|held| held.content.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many parts a text has.
pub fn count_parts(text: &str) -> usize {
    parts(text).count()
}

/// The parts of a text, each at most [`PART_BYTES`] long, cut between characters.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(PART_BYTES);
        let (part, left) = rest.split_at(end);
        rest = left;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rights;

    fn text_of(content: Option<Content>) -> Option<String> {
        match content? {
            Content::Text(text) => Some(text.to_string()),
            Content::File(..) => None,
        }
    }

    fn client(name: &str) -> Client {
        Client::new(name, 1, Rights::default())
    }

    #[test]
    fn a_result_is_there_for_its_client_alone() {
        let held = HeldResults::default();
        let handle = held.keep(&client("a"), "text").unwrap();
        assert_eq!(text_of(held.find(&client("a"), &handle)).as_deref(), Some("text"));
        assert!(held.find(&client("b"), &handle).is_none());
        assert!(held.find(&Client::default(), &handle).is_none());
        assert!(held.find(&client("a"), "0").is_none());
    }

    #[test]
    fn the_oldest_gives_way_and_the_newest_is_there() {
        let held = HeldResults::default();
        let first = held.keep(&client("a"), "first").unwrap();
        let last = (0..MAX_RESULTS).map(|_| held.keep(&client("a"), "more").unwrap()).last().unwrap();
        assert!(held.find(&client("a"), &first).is_none());
        assert!(held.find(&client("a"), &last).is_some());
        let long = "x".repeat(MAX_BYTES / 2);
        let [one, _, three] = [(); 3].map(|()| held.keep(&client("a"), &long).unwrap());
        assert!(held.find(&client("a"), &one).is_none() && held.find(&client("a"), &three).is_some());
        assert!(held.lock().len() <= 2);
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let text = "é".repeat(PART_BYTES);
        assert_eq!(parts(&text).collect::<String>(), text);
        assert!(parts(&text).all(|part| part.len() <= PART_BYTES));
        assert_eq!(count_parts(""), 0);
    }
}
