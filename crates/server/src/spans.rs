//! Calls as OpenTelemetry spans, with the feature `opentelemetry`. A span goes from the moment that a call is asked for to its end,
//! below the span that the client named in `traceparent`. Nothing of it reaches a skill, and no call waits for a collector: what it
//! does not take in time is dropped.
//!
//! The collector and all else are set by OpenTelemetry's own variables; without an endpoint nothing is sent.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_http::{HttpClient, HttpError, hyper::HyperClient};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;

use super::{CallError, CallRequest, Client};
use skillcell_host::call::Report;

/// What turns sending on: the collector's address, for all signals or for spans.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// How long one batch may take, and the last one at the end.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends spans, until it is finished.
pub struct SpanSender(SdkTracerProvider);

impl SpanSender {
    /// Sends what happens from now on to the collector that the environment names, if it names one. Connections are this
    /// runtime's.
    pub fn start(runtime: &Handle) -> Result<Option<SpanSender>, ExporterBuildError> {
        if ENDPOINTS.iter().all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty())) {
            return Ok(None);
        }
        let client = OnRuntime { runtime: runtime.clone(), client: HyperClient::with_default_connector(TIMEOUT, None) };
        let exporter = SpanExporter::builder().with_http().with_http_client(client).build()?;
        let mut about = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            about = about.with_service_name("skillcell");
        }
        let sender = SdkTracerProvider::builder().with_resource(about.build()).with_batch_exporter(exporter).build();
        global::set_tracer_provider(sender.clone());
        Ok(Some(SpanSender(sender)))
    }

    /// Sends what is left. Not on the runtime's own threads.
    pub fn finish(self) {
        let _ = self.0.shutdown_with_timeout(TIMEOUT);
    }
}

/// A client whose connections are the server's runtime's: what sends batches is a thread that has none.
#[derive(Debug)]
struct OnRuntime {
    runtime: Handle,
    client: HyperClient,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { client.send_bytes(request).await }).await?
    }
}

/// The span of one call. Dropped before its end, it says that the call was cancelled.
pub(crate) struct CallSpan {
    span: global::BoxedSpan,
    is_ended: bool,
}

impl CallSpan {
    pub fn begin(client: &Client, request: &CallRequest) -> CallSpan {
        let text = |key: &'static str, value: &str| KeyValue::new(key, value.to_owned());
        let mut attributes = vec![text("skillcell.skill", &request.skill)];
        attributes.extend(client.name.iter().map(|name| text("skillcell.client", name)));
        if let Some(name) = request.origin.as_ref().and_then(|origin| origin.request.as_ref()) {
            attributes.push(text("skillcell.request", name));
        }
        let parent = request.origin.as_ref().and_then(|origin| parent_of(origin.traceparent.as_deref()?));
        let tracer = global::tracer("skillcell");
        let builder = tracer.span_builder("skillcell.call").with_kind(SpanKind::Server).with_attributes(attributes);
        let span = tracer.build_with_context(builder, &parent.unwrap_or_default());
        CallSpan { span, is_ended: false }
    }

    pub fn end(mut self, made: &Result<Report, CallError>) {
        match made {
            Ok(report) => self.tell_report(report),
            Err(error) => {
                self.tell_outcome(error.turned_away().unwrap_or("error"));
                // A host's words may name its folders: they are for stderr.
                self.span.set_status(Status::error(""));
            }
        }
    }

    fn tell_report(&mut self, report: &Report) {
        self.tell_outcome(report.outcome.name());
        self.span.set_attribute(KeyValue::new("skillcell.tier", report.tier.to_string()));
        self.span.set_attribute(KeyValue::new("skillcell.denials", report.denials.len() as i64));
        self.span.set_attribute(KeyValue::new("skillcell.run_ms", report.usage.wall.as_secs_f64() * 1e3));
        if let Some(limit) = report.outcome.limit() {
            self.span.set_attribute(KeyValue::new("skillcell.limit", limit.to_string()));
        }
        if report.outcome.name() != "returned" {
            self.span.set_status(Status::error(report.outcome.name()));
        }
    }

    fn tell_outcome(&mut self, outcome: &'static str) {
        self.span.set_attribute(KeyValue::new("skillcell.outcome", outcome));
        self.is_ended = true;
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if !self.is_ended {
            self.tell_outcome("cancelled");
        }
        self.span.end();
    }
}

/// The client's span, from a `traceparent` that was checked.
fn parent_of(traceparent: &str) -> Option<Context> {
    let mut parts = traceparent.split('-').skip(1);
    let (trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let parent = SpanContext::new(trace, span, flags, true, TraceState::default());
    Some(Context::new().with_remote_span_context(parent))
}
