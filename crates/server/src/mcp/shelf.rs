//! What the server shows and calls, as it stands: entries that get better while it runs, the service once there is one, and
//! what every connection shares.
//!
//! ```text
//!   named, not found ──▶ read by the host ──▶ read by the guest, planned ──▶ prepared: calls don't wait any more
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::cancelling::RunningCalls;
use super::entry::Entry;
use super::held::HeldResults;
use super::names::name_tools;
use super::progress::Watched;
use crate::{Client, Service};
use skillcell_packages::skill::Skill;

/// An MCP server. Clones share everything: connections of every kind can be served from one.
#[derive(Clone)]
pub struct Server(pub(super) Arc<Shared>);

pub(super) struct Shared {
    /// By the tool's name: clients get them in this order, which is the same in every run.
    entries: RwLock<Arc<BTreeMap<String, Arc<Entry>>>>,
    service: watch::Sender<Option<Service>>,
    /// Whether models are offered sessions.
    offers_sessions: AtomicBool,
    /// Counts what clients would see as a change of the list.
    changes: watch::Sender<u64>,
    prepared: watch::Sender<Prepared>,
    pub watched: Arc<Watched>,
    pub held: HeldResults,
    pub running: RunningCalls,
    /// Cancelled when nobody is to be told of changes any more, so that connections end.
    pub draining: CancellationToken,
    /// Cancelled when the server ends: so are the calls that still run.
    pub closing: CancellationToken,
}

/// How far preparing is.
#[derive(Debug, Clone, Copy, Default)]
struct Prepared {
    /// Whether calls are made.
    is_ready: bool,
    /// Whether nothing more will come.
    is_settled: bool,
}

impl Server {
    /// A server that shows these skills, and those of which no more is known than the id. Calls wait until
    /// [`Server::open`].
    pub fn new(skills: &[Skill], unread: &[String], watched: Arc<Watched>) -> Server {
        let server = Server(Arc::new(Shared {
            entries: RwLock::default(),
            offers_sessions: AtomicBool::new(false),
            service: watch::Sender::new(None),
            changes: watch::Sender::new(0),
            prepared: watch::Sender::default(),
            watched,
            held: HeldResults::default(),
            running: RunningCalls::default(),
            closing: CancellationToken::new(),
            draining: CancellationToken::new(),
        }));
        let read = skills.iter().map(Entry::of_files);
        server.replace_entries(read.chain(unread.iter().map(|id| Entry::unread(id))).collect());
        server
    }

    /// A server over a service that is there.
    pub fn over(service: Service, watched: Arc<Watched>) -> Server {
        let skills: Vec<Skill> = service.catalogue().iter().cloned().collect();
        let server = Server::new(&skills, &[], watched);
        server.open(service);
        server
    }

    /// Takes calls, for the skills of this service. Of others only those stay that are named and not found yet.
    pub fn open(&self, service: Service) {
        let shown = self.entries();
        // What the guest read of the same files before is not forgotten.
        let entry = |skill: &Skill| {
            let known =
                shown.values().find(|entry| entry.id == skill.id() && entry.digest.as_deref() == Some(skill.digest()));
            known.map_or_else(|| Entry::of_files(skill), |entry| Entry::clone(entry))
        };
        let is_unread = |entry: &&Arc<Entry>| entry.digest.is_none() && service.catalogue().get(&entry.id).is_none();
        let unread = shown.values().filter(is_unread).map(|entry| Entry::clone(entry));
        self.replace_entries(service.catalogue().iter().map(entry).chain(unread).collect());
        self.0.service.send_replace(Some(service));
    }

    /// Shows models how they open sessions; programs always can. Before anybody is served.
    pub fn offer_sessions(&self) {
        self.0.offers_sessions.store(true, Ordering::Relaxed);
    }

    /// Whether models are offered sessions.
    pub(super) fn offers_sessions(&self) -> bool {
        self.0.offers_sessions.load(Ordering::Relaxed)
    }

    /// Says of a skill that is only named why it can't be called yet.
    pub fn set_problem(&self, id: &str, problem: &str) {
        let mut entries: Vec<Entry> = self.entries().values().map(|entry| Entry::clone(entry)).collect();
        for entry in entries.iter_mut().filter(|entry| entry.id == id) {
            entry.problem = Some(problem.to_owned());
        }
        self.replace_entries(entries);
    }

    /// Shows skills as the guest reads them.
    pub(super) fn set_entries(&self, read: Vec<Entry>) {
        let mut entries: BTreeMap<String, Entry> =
            self.entries().values().map(|entry| (entry.id.clone(), Entry::clone(entry))).collect();
        for entry in read {
            // One that is no longer served stays away.
            entries.entry(entry.id.clone()).and_modify(|shown| *shown = entry);
        }
        self.replace_entries(entries.into_values().collect());
    }

    /// Calls don't wait any more: what they need is there, or they will say why it is not.
    pub(super) fn set_prepared(&self) {
        self.0.prepared.send_modify(|prepared| prepared.is_ready = true);
    }

    /// Nothing more will come: what is shown may be kept for longer.
    pub(super) fn set_settled(&self) {
        self.0.prepared.send_modify(|prepared| prepared.is_settled = true);
    }

    /// Ends every subscription, which would go on for ever. Calls go on.
    pub fn start_draining(&self) {
        self.0.draining.cancel();
    }

    /// Ends every call and every subscription.
    pub fn close(&self) {
        self.0.draining.cancel();
        self.0.closing.cancel();
    }

    /// Ends sessions that are past their bounds. Cheap; to be called every few seconds where nothing else does.
    pub fn sweep_sessions(&self) {
        if let Some(service) = self.service() {
            service.sessions().sweep();
        }
    }

    /// Waits until no call runs any more: what they do when they are ended, they do on threads that the program would end with.
    pub async fn wait_until_idle(&self) {
        let Some(service) = self.service() else { return };
        while service.load().running > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whether what is shown is what the guest read.
    pub(super) fn is_settled(&self) -> bool {
        self.0.prepared.borrow().is_settled
    }

    /// Counts changes of the list.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// What this client may see, by name.
    pub(super) fn entries_for(&self, client: &Client) -> Vec<Arc<Entry>> {
        self.entries().values().filter(|entry| client.may_call(&entry.id)).cloned().collect()
    }

    /// The tool with this name, if this client may see it.
    pub(super) fn entry_for(&self, client: &Client, name: &str) -> Option<Arc<Entry>> {
        self.entries().get(name).filter(|entry| client.may_call(&entry.id)).cloned()
    }

    /// The service, once it has this skill and calls can be made; the reason if it can't be had.
    pub(super) async fn wait_for(&self, id: &str) -> Result<Service, String> {
        let (mut services, mut prepared) = (self.0.service.subscribe(), self.0.prepared.subscribe());
        let mut changes = self.changes();
        loop {
            let service = services.borrow_and_update().clone();
            let is_ready = prepared.borrow_and_update().is_ready;
            changes.borrow_and_update();
            if let Some(service) = service.filter(|service| is_ready && service.catalogue().get(id).is_some()) {
                return Ok(service);
            }
            let shown = self.entries();
            match shown.values().find(|entry| entry.id == id).map(|entry| &entry.problem) {
                Some(Some(problem)) => return Err(problem.clone()),
                Some(None) => {}
                None => return Err("the skill is no longer served".to_owned()),
            }
            tokio::select! {
                _ = services.changed() => {}
                _ = prepared.changed() => {}
                _ = changes.changed() => {}
            }
        }
    }

    /// The service, if there is one yet.
    pub(super) fn service(&self) -> Option<Service> {
        self.0.service.borrow().clone()
    }

    fn entries(&self) -> Arc<BTreeMap<String, Arc<Entry>>> {
        self.0.entries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace_entries(&self, entries: Vec<Entry>) {
        let names = name_tools(entries.iter().map(|entry| entry.id.as_str()));
        let named = entries.into_iter().map(|entry| {
            let name = names.get(&entry.id).cloned().unwrap_or_default();
            (name.clone(), Arc::new(entry.with_name(&name)))
        });
        let named: BTreeMap<String, Arc<Entry>> = named.collect();
        let before = std::mem::replace(
            &mut *self.0.entries.write().unwrap_or_else(PoisonError::into_inner),
            Arc::new(named.clone()),
        );
        let differs = before.len() != named.len() || named.iter().any(|(name, entry)| before.get(name) != Some(entry));
        if differs {
            self.0.changes.send_modify(|count| *count += 1);
        }
    }
}
