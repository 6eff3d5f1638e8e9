//! `skillcell serve`: skills over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::grants::GrantArgs;
use super::limits::LimitArgs;
use super::printer::{Printer, one_line};
use super::spans::Spans;
use super::{SettingArgs, input, progress};
use crate::settings::{Settings, is_token_name};
use skillcell_server::{
    Api, ApiOptions, Catalogue, Listeners, Page, Selection, ServeOptions, Server, Service, ServiceOptions, Tokens, mcp,
    mint_token, notify_systemd,
};

/// Serve skills over HTTP
///
/// POST /v1/skills/{id}/calls with {"params": {…}} makes a call, and answers with the envelope of `skillcell run --json`.
/// GET /v1/skills, /v1/skills/{id}, /healthz, /readyz, /metrics and /openapi.json are beside it. A client can tighten the
/// limits below, and widen nothing. Without SKILLS, those that were approved are served.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell serve ./my_skill office/pdf_form_filler
  skillcell serve --all --listen 127.0.0.1:8080 --timeout 10s
  skillcell serve --new-token ci
  skillcell --policy skillcell.toml serve --listen 0.0.0.0:8080 \\
      --allow-host skills.example.org

A call of it:
  curl -s http://localhost:8080/v1/skills/my_skill/calls \\
      -H 'Content-Type: application/json' -d '{\"params\": {\"text\": \"hello\"}}'")]
pub struct ServeCommand {
    /// Skills: ids, folders with a skill.py, or folders with such folders [default: those that were approved]
    #[arg(conflicts_with = "all")]
    skills: Vec<String>,
    /// Serve what `skillcell list` shows
    #[arg(long)]
    all: bool,
    /// Where to listen; sockets that systemd hands over come first
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// A name that the server goes by besides localhost and addresses (repeatable)
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Pages of another site that may call, such as https://console.example.org (repeatable)
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Listen beyond this machine without tokens: everybody who can reach it can call
    #[arg(long)]
    insecure_no_auth: bool,
    /// Calls that run at once [default: 4 for each core, at least 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Calls that wait at once; more are turned away with 429
    #[arg(long, value_name = "N", default_value = "1024")]
    max_waiting: usize,
    /// Connections at once; more wait
    #[arg(long, value_name = "N", default_value = "1024")]
    max_connections: usize,
    /// The longest body of a request
    #[arg(long, value_name = "SIZE", value_parser = input::size, default_value = "8M")]
    max_body: u64,
    /// How long a request's head and its body may each take to arrive
    #[arg(long, value_name = "TIME", value_parser = input::time, default_value = "10")]
    max_receive: Duration,
    /// Let models open sessions: each tool takes one more argument, and one more tool closes sessions
    #[arg(long)]
    sessions: bool,
    /// Print a new token and what to write into skillcell.toml for it, and serve nothing
    #[arg(long, value_name = "NAME", conflicts_with_all = ["skills", "all"])]
    new_token: Option<String>,
    /// Append a JSON line for each decision and host call to this file; also SKILLCELL_AUDIT
    #[arg(long, value_name = "FILE", help_heading = "Audit")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    grants: GrantArgs,
}

impl ServeCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        if let Some(name) = &self.new_token {
            return print_token(name, printer);
        }
        let settings = self.load_settings(args)?;
        settings.check_grants()?;
        let tokens = Tokens::new(&settings.tokens);
        // Before anything that takes long, so that mistakes fail at once.
        let listeners = Listeners::open(self.listen)?;
        if let Err(error) = listeners.check_exposure(!tokens.is_empty(), self.insecure_no_auth) {
            error.hint().into_iter().for_each(|hint| printer.print_hint(hint));
            return Err(error.into());
        }
        let watched = mcp::Watched::new(Arc::new(progress::Terminal::new(args.quiet)));
        let host = settings.host_builder()?.progress(watched.clone()).build()?;
        let catalogue = self.load_catalogue(&host, printer)?;
        let defaults = settings.call_defaults()?;
        let service = Service::with_options(host, defaults, catalogue, &self.service_options(&tokens));
        for address in listeners.addresses() {
            printer.print_note(&format!("serving {} skills at http://{address}", service.catalogue().len()));
        }
        let tools = mcp::Server::over(service.clone(), watched);
        if self.sessions {
            tools.offer_sessions();
        }
        let api = Api::new(service, tokens, self.api_options());
        let page = Page::new(api.clone());
        let mcp_settings = Self::mcp_settings(&api);
        let server = Server {
            api,
            others: page.router().route("/mcp", mcp::http_service(&tools, &mcp_settings)),
            options: self.serve_options(&settings),
        };
        run_server(server, tools, page, listeners, printer)?;
        Ok(ExitCode::SUCCESS)
    }

    fn load_settings(&self, args: &SettingArgs) -> anyhow::Result<Settings> {
        if self.grants.map_paths {
            bail!("--map-paths is not for servers: clients don't know this machine's folders");
        }
        let mut overrides = args.overrides();
        self.grants.add_to(&mut overrides)?;
        overrides.limits = self.limits.overrides();
        overrides.audit = self.audit.clone();
        Ok(Settings::load(overrides)?)
    }

    fn load_catalogue(&self, host: &skillcell_host::Host, printer: &Printer) -> anyhow::Result<Catalogue> {
        let selection = match (self.all, &self.skills[..]) {
            (true, _) => Selection::All,
            (false, []) => Selection::Approved,
            (false, names) => Selection::Named(names.to_vec()),
        };
        let catalogue = Catalogue::load(host, &selection)?;
        for left_out in catalogue.left_out() {
            printer.print_warning(&one_line(&format!("`{}` is not served: {}", left_out.skill, left_out.why)));
        }
        if catalogue.is_empty() {
            printer.print_hint("name skills, or approve some with `skillcell approve`, or give --all");
            bail!("there is no skill to serve");
        }
        Ok(catalogue)
    }

    fn service_options(&self, tokens: &Tokens) -> ServiceOptions {
        let mut options = ServiceOptions::default();
        options.workers = self.workers.map_or(options.workers, usize::from);
        options.max_waiting = self.max_waiting;
        options.tokens = tokens.len();
        options
    }

    fn api_options(&self) -> ApiOptions {
        let mut options = ApiOptions::default();
        options.max_body_bytes = usize::try_from(self.max_body).unwrap_or(usize::MAX).min(64 << 20);
        options.body_timeout = self.max_receive;
        options.allow_hosts = self.allow_host.clone();
        options.allow_origins = self.allow_origin.clone();
        options
    }

    /// The guard before every route looks at `Host`, at tokens and at pages of other sites; room for bodies is shared.
    fn mcp_settings(api: &Api) -> mcp::HttpSettings {
        let mut settings = mcp::HttpSettings::default();
        settings.is_guarded = true;
        settings.bodies = api.bodies().clone();
        settings
    }

    /// What runs when the server is told to stop has its deadline, and a little more for its end.
    fn serve_options(&self, settings: &Settings) -> ServeOptions {
        let mut options = ServeOptions::default();
        options.max_connections = self.max_connections;
        options.head_timeout = self.max_receive;
        options.grace = settings.limits.deadline + Duration::from_secs(5);
        options
    }
}

/// Threads for connections: calls have their own.
fn io_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}

fn run_server(
    server: Server,
    tools: mcp::Server,
    page: Page,
    listeners: Listeners,
    printer: &Printer,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(io_threads()).enable_all().build()?;
    let spans = Spans::start(&runtime, printer)?;
    let (shown, service) = (tools.clone(), server.api.service().clone());
    std::thread::Builder::new().name("mcp-start".to_owned()).spawn(move || mcp::prepare_skills(&shown, &service))?;
    server.api.service().start_warming(1, move || {
        notify_systemd("READY=1");
        page.start_verdicts();
    });
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let (mut again, mut also) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let stop = async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            notify_systemd("STOPPING=1");
            tools.start_draining();
        };
        // The first signal reaches these too: it is the second that ends everything.
        let abort = async {
            for _ in 0..2 {
                tokio::select! { _ = again.recv() => {}, _ = also.recv() => {} }
            }
        };
        server.run(listeners, stop, abort).await
    })?;
    spans.finish();
    // A worker in a call that was not waited for ends with the process.
    runtime.shutdown_background();
    Ok(())
}

fn print_token(name: &str, printer: &Printer) -> anyhow::Result<ExitCode> {
    if !is_token_name(name) {
        bail!("a token's name is 1 to 64 letters, digits, `-`, `_` or `.`");
    }
    let (token, hash) = mint_token().context("there are no random numbers for a token")?;
    printer.print_line(&token);
    printer.print_note("this is the only time that it is shown; its bearer sends `Authorization: Bearer …`");
    let name = if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() };
    printer.print_note(&format!("for skillcell.toml:\n\n[token.{name}]\nsha256 = \"{hash}\"\nskills = []\n"));
    Ok(ExitCode::SUCCESS)
}
