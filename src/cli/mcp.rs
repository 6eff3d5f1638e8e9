//! `skillcell mcp`: skills as the tools of an MCP server, on stdio or over HTTP.
//!
//! Clients wait ten seconds for a server to start, and a machine that never ran a skill needs a minute. So the server answers
//! first, with what the files of skills say, and gets ready while it does.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use skillcell_server::mcp::{self, HttpSettings, Preview, Server, Watched};
use skillcell_server::{Catalogue, Selection, Service, admit_pages};
use tokio_util::sync::CancellationToken;

use super::grants::GrantArgs;
use super::limits::LimitArgs;
use super::printer::Printer;
use super::spans::Spans;
use super::{SettingArgs, progress};
use crate::settings::{CallDefaults, Settings};
use skillcell_cache::progress::Progress;
use skillcell_host::{Host, HostError};

/// How long to wait before looking for the registry's skills again, and at most.
const RETRY: Duration = Duration::from_secs(10);
const LAST_RETRY: Duration = Duration::from_secs(600);
/// How long a start may wait for what is there already.
const AT_ONCE: Duration = Duration::from_millis(400);
/// How often sessions are looked at.
const SWEEP: Duration = Duration::from_secs(5);
/// How long what still runs may take when the program ends.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Serve skills as tools to an agent, by the Model Context Protocol
///
/// Each skill is a tool; its instructions are a prompt and a resource. Without SKILLS it serves those that were approved. What a
/// skill may do is set here, by flags and the policy file, and by approvals: no client can add to it. The first start on a machine gets the
/// runtime ready in the background, which takes a minute or two; a call that comes meanwhile waits and reports progress.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell mcp optimization/prompt_rewriter ./my_skill
  skillcell mcp --all --policy skillcell.toml
  skillcell mcp --http 127.0.0.1:8931 ./skills

In Claude Code, for one:
  claude mcp add skills -- skillcell mcp ./skills

Exit codes: 0 the client went away or the program was told to stop, 2 usage or host error.")]
pub struct McpCommand {
    /// Ids, folders with a skill.py, or folders with skills below them
    #[arg(conflicts_with = "all")]
    skills: Vec<String>,
    /// Serve every skill that `skillcell list` shows
    #[arg(long)]
    all: bool,
    /// Serve HTTP at http://ADDR/mcp instead of stdio; a loopback address. `skillcell serve` has tokens, for other addresses
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Pages that may ask over HTTP, such as http://localhost:6274 (repeatable); none may by default
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// Let models open sessions: each tool takes one more argument, and one more tool closes sessions
    #[arg(long)]
    sessions: bool,
    /// Append a line for each decision to this file
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    grants: GrantArgs,
}

impl McpCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        self.check_flags()?;
        let settings = self.load_settings(args)?;
        settings.check_grants()?;
        self.check_tokens(&settings)?;
        let defaults = settings.call_defaults()?;
        let watched = Watched::new(Arc::new(progress::Terminal::new(args.quiet)));
        let host = settings.host_builder()?.progress(watched.clone()).build()?;
        let selection = self.selection();
        let preview = Preview::load(&host, &selection)?;
        if selection == Selection::Approved && preview.skills.is_empty() && preview.unread.is_empty() {
            printer.print_warning("no skill was approved, so none is served");
            printer.print_hint("name skills, or `skillcell approve` some");
        }
        let server = Server::new(&preview.skills, &preview.unread, watched.clone());
        if self.sessions {
            server.offer_sessions();
        }
        let starting = Starting { host, defaults, selection, preview, server: server.clone(), watched };
        let (tell, told) = mpsc::channel();
        std::thread::Builder::new().name("mcp-start".to_owned()).spawn(move || starting.run(&tell))?;
        // Where nothing has to be fetched, a name that leads nowhere is a mistake to be told at once.
        if let Ok(Some(error)) = told.recv_timeout(AT_ONCE) {
            return Err(error.into());
        }
        self.serve(&server, printer)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Whoever wrote tokens down expects that they are asked for.
    fn check_tokens(&self, settings: &Settings) -> anyhow::Result<()> {
        if self.http.is_some() && !settings.tokens.is_empty() {
            bail!(
                "the settings have tokens, and `skillcell mcp --http` asks for none: `skillcell serve` has the same at /mcp, behind them"
            );
        }
        Ok(())
    }

    fn check_flags(&self) -> anyhow::Result<()> {
        if self.grants.map_paths {
            bail!("--map-paths is for `skillcell run`: a server's clients have other folders than it has");
        }
        if let Some(address) = self.http.filter(|address| !address.ip().is_loopback()) {
            bail!(
                "`{address}` can be reached from other machines, and `skillcell mcp` asks for no token: `skillcell serve` does"
            );
        }
        Ok(())
    }

    fn selection(&self) -> Selection {
        match () {
            () if self.all => Selection::All,
            () if self.skills.is_empty() => Selection::Approved,
            () => Selection::Named(self.skills.clone()),
        }
    }

    fn load_settings(&self, args: &SettingArgs) -> anyhow::Result<Settings> {
        let mut overrides = args.overrides();
        self.grants.add_to(&mut overrides)?;
        overrides.limits = self.limits.overrides();
        overrides.audit = self.audit.clone();
        Ok(Settings::load(overrides)?)
    }

    /// Until the client goes away, or a signal comes.
    fn serve(&self, server: &Server, printer: &Printer) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let spans = Spans::start(&runtime, printer)?;
        let served = runtime.block_on(async {
            let stop = stop_on_signal()?;
            tokio::spawn(sweep_sessions(server.clone()));
            match self.http {
                None => mcp::serve_stdio(server, stop).await.context("the client could not be served"),
                Some(address) => self.serve_http(address, server, stop, printer).await,
            }
        });
        server.close();
        // Calls that were ended have their last line in the audit then. What else runs is the preparing, which the next start
        // takes up.
        let _ = runtime.block_on(async { tokio::time::timeout(SHUTDOWN, server.wait_until_idle()).await });
        spans.finish();
        runtime.shutdown_background();
        served
    }

    async fn serve_http(
        &self,
        address: SocketAddr,
        server: &Server,
        stop: CancellationToken,
        printer: &Printer,
    ) -> anyhow::Result<()> {
        let mut settings = HttpSettings::default();
        let listener =
            tokio::net::TcpListener::bind(address).await.with_context(|| format!("can't listen on `{address}`"))?;
        let address = listener.local_addr()?;
        // A page of this very place is no other site's.
        let own = settings.hosts.iter().map(|host| if host.contains(':') { format!("[{host}]") } else { host.clone() });
        settings.origins = own.map(|host| format!("http://{host}:{}", address.port())).collect();
        settings.origins.extend(self.allow_origin.iter().cloned());
        printer.print_note(&format!("serving MCP at http://{address}/mcp"));
        let router = axum::Router::new().route("/mcp", mcp::http_service(server, &settings));
        let router = admit_pages(router, &self.allow_origin);
        let (closing, ended) = (server.clone(), stop.clone());
        let graceful = async move {
            ended.cancelled().await;
            // Calls are answered that they were ended.
            closing.close();
        };
        tokio::select! {
            served = axum::serve(listener, router).with_graceful_shutdown(graceful) => Ok(served?),
            () = async { stop.cancelled().await; tokio::time::sleep(SHUTDOWN).await } => Ok(()),
        }
    }
}

/// Ends sessions that are past their bounds.
async fn sweep_sessions(server: Server) {
    loop {
        tokio::time::sleep(SWEEP).await;
        server.sweep_sessions();
    }
}

/// Cancelled by SIGTERM and SIGINT.
fn stop_on_signal() -> anyhow::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        told.cancel();
    });
    Ok(stop)
}

/// What happens beside serving: the skills are found, and got ready.
struct Starting {
    host: Host,
    defaults: CallDefaults,
    selection: Selection,
    preview: Preview,
    server: Server,
    watched: Arc<Watched>,
}

/// The skills that were found, and what became of the others.
struct Resolved {
    catalogue: Catalogue,
    failures: Vec<(String, HostError)>,
}

impl Starting {
    /// Tells how looking for skills went the first time, then goes on.
    fn run(self, told: &mpsc::Sender<Option<HostError>>) {
        let (mut wait, mut served) = (RETRY, None);
        loop {
            let Resolved { catalogue, mut failures } = self.resolve();
            let unknown = failures.iter().position(|(_, error)| is_unknown(error));
            let _ = told.send(unknown.map(|at| failures.swap_remove(at).1));
            failures.iter().for_each(|(id, error)| self.tell_failure(id, error));
            if served.is_none_or(|count| count != catalogue.len()) {
                served = Some(catalogue.len());
                self.open(catalogue);
            }
            // One that is unknown stays unknown.
            if failures.iter().all(|(_, error)| is_unknown(error)) {
                return;
            }
            std::thread::sleep(wait);
            wait = (2 * wait).min(LAST_RETRY);
        }
    }

    /// Skills in folders are served whatever becomes of the registry.
    fn resolve(&self) -> Resolved {
        let skills = self.preview.skills.clone();
        if !matches!(self.selection, Selection::Named(_)) {
            return match Catalogue::load(&self.host, &self.selection) {
                Ok(catalogue) => Resolved { catalogue, failures: Vec::new() },
                Err(error) => {
                    Resolved { catalogue: Catalogue::new(skills), failures: vec![("the registry".to_owned(), error)] }
                }
            };
        }
        let (mut skills, mut failures) = (skills, Vec::new());
        for id in &self.preview.unread {
            match self.host.skill(id) {
                Ok(skill) => skills.push(skill),
                Err(error) => failures.push((id.clone(), error)),
            }
        }
        Resolved { catalogue: Catalogue::new(skills), failures }
    }

    fn open(&self, catalogue: Catalogue) {
        for left in catalogue.left_out() {
            self.watched.note(&format!("`{}` is not served: {}", left.skill, left.why));
        }
        let service = Service::new(self.host.clone(), self.defaults.clone(), catalogue);
        self.server.open(service.clone());
        mcp::prepare_skills(&self.server, &service);
        service.start_warming(1, || ());
    }

    fn tell_failure(&self, id: &str, error: &HostError) {
        self.watched.note(&format!("`{id}` is not served yet: {error}"));
        self.server
            .set_problem(id, "the skill can't be had at the moment: the operator of this server has to look into it");
    }
}

/// Whether there is no such skill, however often one looks.
fn is_unknown(error: &HostError) -> bool {
    matches!(error, HostError::Skill(_))
}
