//! The protocol's requests, answered. Which era a client speaks is `rmcp`'s to find out; here it decides about few words.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::agent_skill::contents_of;
use super::answer::{Asker, answer_error, answer_report, fail};
use super::asked::{asked_session, call_name, client_of, is_legacy, origin_of, scope_of};
use super::entry::Entry;
use super::held::Content;
use super::progress::Teller;
use super::resources::{self, Place};
use super::run_script::{RUN_SCRIPT, read_arguments, script_tool};
use super::session_tools::{CLOSE_SESSION, CallSession, close_session, close_tool, take_argument};
use super::shelf::Server;
use crate::{CallRequest, Client, ScriptRequest};
use skillcell_limits::cancel::CancelToken;

/// How long clients may keep a list: while skills are being read, and after that.
const TTL_WHILE_READING: Duration = Duration::from_secs(1);
const TTL_SETTLED: Duration = Duration::from_secs(60);
/// SEP-2640: Agent Skills folders, as files.
const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";
/// The methods that are answered and have params.
const METHODS: [&str; 10] = [
    "initialize",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
];
const INSTRUCTIONS: &str = "Each tool is a skill that runs in a sandbox of its own. What a skill may reach is decided by the \
    operator of this server: if something is refused, say so and ask for it, and don't look for a way round. The prompt and the \
    resource with a tool's name have its instructions.";

/// One connection's requests, or one request.
#[derive(Clone)]
pub struct Handler {
    server: Server,
    /// Whether the connection can carry messages that answer no request.
    tells_changes: bool,
}

impl Handler {
    /// For a connection that stays, as stdio does, or for a single request.
    pub fn new(server: Server, tells_changes: bool) -> Handler {
        Handler { server, tells_changes }
    }

    async fn make_call(
        &self,
        call: &ToolCall<'_>,
        arguments: Arguments,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let teller = Teller::new(context, &call.client, self.server.0.watched.clone());
        let waited = tokio::select! {
            waited = self.server.wait_for(&call.entry.id) => waited,
            () = teller.tell_preparing() => unreachable!("it tells until it is dropped"),
        };
        let service = match waited {
            Ok(service) => service,
            Err(problem) => return fail(problem),
        };
        let mut request = CallRequest::new(&call.entry.id, "{}");
        let mut session = None;
        match arguments {
            Arguments::Params { params, session: argument } => {
                request.params = params;
                let (client, skill) = (&call.client, &call.entry.id);
                session = match CallSession::begin(&service, client, skill, argument, asked_session(context)) {
                    Ok(session) => session,
                    Err(problem) => return fail(problem),
                };
            }
            Arguments::Script(script) => request.script = Some(script),
        }
        request.session = session.as_ref().map(|session| session.handle().to_owned());
        request.cancel = CancelToken::new();
        request.origin = Some(origin_of(context));
        let made = tokio::select! {
            made = service.call(&call.client, request) => made,
            () = teller.tell_running() => unreachable!("it tells until it is dropped"),
        };
        let asker = Asker {
            client: &call.client,
            is_legacy: is_legacy(context),
            has_schema: call.entry.tool.output_schema.is_some(),
        };
        match made {
            Ok(report) => {
                let mut answer = answer_report(&report, &asker, &self.server.0.held);
                if let Some(session) = session {
                    session.keep(&mut answer);
                }
                answer
            }
            Err(error) => {
                self.report_error(&call.entry.id, &error);
                answer_error(&error, &call.client)
            }
        }
    }

    fn close_session(&self, client: &Client, arguments: &JsonObject) -> CallToolResult {
        match self.server.service() {
            Some(service) => close_session(&service, client, arguments),
            None => fail("no session is open yet".to_owned()),
        }
    }

    /// To the operator: the client gets fewer words.
    fn report_error(&self, skill: &str, error: &crate::CallError) {
        use skillcell_cache::progress::Progress;
        if let crate::CallError::Host(error) = error {
            self.server.0.watched.note(&format!("a call of `{skill}` could not be made: {error}"));
        }
    }

    /// The skill that a tool stands for, and what it is called with.
    fn find_tool(&self, client: &Client, request: CallToolRequestParams) -> Result<(Arc<Entry>, Arguments), ErrorData> {
        let mut arguments = request.arguments.unwrap_or_default();
        let wrong = |words: String| ErrorData::invalid_params(words, None);
        if request.name != RUN_SCRIPT {
            let entry = self.server.entry_for(client, &request.name).filter(|entry| entry.agent_skill.is_none());
            let entry = entry.ok_or_else(|| wrong(format!("unknown tool: {}", request.name)))?;
            let keeps_argument = entry.has_own_session || !self.server.offers_sessions();
            let session = take_argument(keeps_argument, &mut arguments).map_err(wrong)?;
            return Ok((entry, Arguments::Params { params: Value::Object(arguments).to_string(), session }));
        }
        let (id, script) = read_arguments(arguments).map_err(wrong)?;
        let found = self.agent_skills(client).into_iter().find(|entry| entry.id == id);
        Ok((found.ok_or_else(|| wrong(format!("there is no skill `{id}` with scripts")))?, Arguments::Script(script)))
    }

    fn agent_skills(&self, client: &Client) -> Vec<Arc<Entry>> {
        let mut entries = self.server.entries_for(client);
        entries.retain(|entry| entry.agent_skill.is_some());
        entries
    }

    /// `skills/list` and `skills/get` of the Skills extension.
    fn answer_skills(&self, client: &Client, request: &CustomRequest) -> Result<Value, ErrorData> {
        let entries = self.agent_skills(client);
        let mut listed = entries.iter().filter_map(|entry| entry.agent_skill.as_ref()?.listed());
        let mut answer = json!({"resultType": "complete", "ttlMs": self.ttl(), "cacheScope": scope_of(client)});
        match request.method.as_str() {
            "skills/list" => answer["skills"] = listed.cloned().collect(),
            "skills/get" => {
                let uri = request.params.as_ref().and_then(|params| params.get("uri")?.as_str()).unwrap_or_default();
                let found = listed.find(|skill| skill["uri"] == uri);
                let unknown = || ErrorData::invalid_params("there is no such skill", Some(json!({"uri": uri})));
                answer["skill"] = found.ok_or_else(unknown)?.clone();
            }
            other => return Err(not_understood(other)),
        }
        Ok(answer)
    }

    fn ttl(&self) -> u64 {
        let time = if self.server.is_settled() { TTL_SETTLED } else { TTL_WHILE_READING };
        u64::try_from(time.as_millis()).unwrap_or_default()
    }
}

/// Requests that `rmcp` could not read come as ones of another protocol: those with a known name have wrong params.
fn not_understood(method: &str) -> ErrorData {
    if METHODS.contains(&method) {
        return ErrorData::invalid_params(format!("the params of `{method}` are not what it takes"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)
}

/// What a call brings.
enum Arguments {
    /// JSON text for `execute`, and the session that it names.
    Params {
        params: String,
        session: Option<String>,
    },
    Script(ScriptRequest),
}

/// A tool and who calls it.
struct ToolCall<'a> {
    client: Client,
    entry: &'a Entry,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        promise_changes(&mut capabilities, true);
        capabilities.extensions.get_or_insert_default().insert(SKILLS_EXTENSION.to_owned(), JsonObject::new());
        let about = Implementation::new("skillcell", env!("CARGO_PKG_VERSION")).with_title("skillcell");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    /// A client of the older era that does not stay is not told of changes: it has nowhere to hear of them.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut about = self.negotiate_initialize(&request)?;
        promise_changes(&mut about.capabilities, self.tells_changes);
        Ok(about)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (client, is_legacy) = (client_of(&context), is_legacy(&context));
        let with_sessions = self.server.offers_sessions();
        let shown = |entry: Arc<Entry>| entry.shown_tool(is_legacy, with_sessions);
        let (scripts, skills): (Vec<_>, Vec<_>) =
            self.server.entries_for(&client).into_iter().partition(|entry| entry.agent_skill.is_some());
        let mut tools: Vec<Tool> = skills.into_iter().map(shown).chain(script_tool(&scripts)).collect();
        if with_sessions {
            tools.push(close_tool());
        }
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        let list = ListToolsResult::with_all_items(tools);
        Ok(if is_legacy { list } else { list.with_ttl_ms(self.ttl()).with_cache_scope(scope_of(&client)) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = client_of(&context);
        if request.name == CLOSE_SESSION && self.server.offers_sessions() {
            return Ok(self.close_session(&client, &request.arguments.unwrap_or_default()).into());
        }
        let (entry, arguments) = self.find_tool(&client, request)?;
        let registered = self.server.0.running.register(call_name(&client, &context));
        let call = ToolCall { client, entry: &entry };
        // Dropping the call's future ends the call itself.
        let answer = tokio::select! {
            answer = self.make_call(&call, arguments, &context) => answer,
            () = context.ct.cancelled() => fail("the call was cancelled".to_owned()),
            () = registered.token.cancelled() => fail("the call was cancelled".to_owned()),
            () = self.server.0.closing.cancelled() => fail("the server is shutting down: the call was ended".to_owned()),
        };
        Ok(answer.into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let client = client_of(&context);
        let entries = self.server.entries_for(&client);
        let list = ListResourcesResult::with_all_items(
            entries.iter().flat_map(|entry| resources::resources_of(entry)).collect(),
        );
        let list =
            if is_legacy(&context) { list } else { list.with_ttl_ms(self.ttl()).with_cache_scope(scope_of(&client)) };
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(vec![resources::result_template()]);
        Ok(if is_legacy(&context) { list } else { list.with_ttl_ms(3_600_000).with_cache_scope(CacheScope::Public) })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (client, uri) = (client_of(&context), request.uri.as_str());
        let missing = || {
            let data = serde_json::json!({"uri": uri});
            ErrorData::resource_not_found(format!("resource not found: {uri}"), Some(data))
        };
        let read = match Place::parse(uri).ok_or_else(missing)? {
            Place::Instructions(name) => {
                let entry = self.server.entry_for(&client, name).ok_or_else(missing)?;
                resources::read_text(uri, "text/markdown", entry.instructions.as_ref().ok_or_else(missing)?)
            }
            Place::Card(name) => {
                let entry = self.server.entry_for(&client, name).ok_or_else(missing)?;
                resources::read_text(uri, "application/json", entry.card.as_ref().ok_or_else(missing)?)
            }
            Place::Result(handle, part) => match self.server.0.held.find(&client, handle).ok_or_else(missing)? {
                Content::Text(text) => {
                    let part = resources::result_part(&text, part).ok_or_else(missing)?;
                    resources::read_text(uri, "application/json", part)
                }
                Content::File(..) if part.is_some() => return Err(missing()),
                Content::File(bytes, kind) => {
                    ReadResourceResult::new(vec![contents_of(uri, "", &bytes).with_mime_type(kind)])
                }
            },
            Place::SkillFile => {
                let entries = self.agent_skills(&client);
                let read = entries.iter().find_map(|entry| entry.agent_skill.as_ref()?.read(uri));
                ReadResourceResult::new(vec![read.ok_or_else(missing)?])
            }
        };
        Ok(match is_legacy(&context) {
            true => read,
            // A result is its client's own, and gone in a while.
            false => read.with_ttl_ms(self.ttl()).with_cache_scope(CacheScope::Private),
        }
        .into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.answer_skills(&client_of(&context), &request).map(CustomResult::new)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let client = client_of(&context);
        let entries = self.server.entries_for(&client);
        let list =
            ListPromptsResult::with_all_items(entries.iter().filter_map(|entry| resources::prompt_of(entry)).collect());
        let list =
            if is_legacy(&context) { list } else { list.with_ttl_ms(self.ttl()).with_cache_scope(scope_of(&client)) };
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let entry = self.server.entry_for(&client_of(&context), &request.name);
        let prompt = entry.as_deref().and_then(resources::prompt_text);
        let missing = || ErrorData::invalid_params(format!("unknown prompt: {}", request.name), None);
        Ok(prompt.ok_or_else(missing)?.into())
    }

    /// Of the older era: a client that stays is told of each change of the list.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.tells_changes {
            return;
        }
        let (mut changes, draining) = (self.server.changes(), self.server.0.draining.clone());
        let watch = async move {
            while changes.changed().await.is_ok() {
                let peer = &context.peer;
                let told = [peer.notify_tool_list_changed().await, peer.notify_prompt_list_changed().await];
                if told.iter().any(Result::is_err) || peer.notify_resource_list_changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::spawn(async move {
            tokio::select! {
                () = watch => {}
                () = draining.cancelled() => {}
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    /// Of the newer era: a request that stays open, and is told of each change.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.server.changes();
        let (accepted, sink) = (context.accepted(), context.sink());
        loop {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return Ok(()) },
                () = context.cancelled() => return Ok(()),
                () = self.server.0.draining.cancelled() => return Ok(()),
            }
            let mut told = Ok(());
            if accepted.tools_list_changed == Some(true) {
                told = sink.notify_tool_list_changed().await;
            }
            if told.is_ok() && accepted.prompts_list_changed == Some(true) {
                told = sink.notify_prompt_list_changed().await;
            }
            if told.is_ok() && accepted.resources_list_changed == Some(true) {
                told = sink.notify_resource_list_changed().await;
            }
            if told.is_err() {
                return Ok(());
            }
        }
    }
}

fn promise_changes(capabilities: &mut ServerCapabilities, tells: bool) {
    if let Some(tools) = &mut capabilities.tools {
        tools.list_changed = Some(tells);
    }
    if let Some(prompts) = &mut capabilities.prompts {
        prompts.list_changed = Some(tells);
    }
    if let Some(resources) = &mut capabilities.resources {
        resources.list_changed = Some(tells);
    }
}
