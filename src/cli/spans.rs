//! Sending the servers' calls to a collector, in a program that was built for it.

use super::printer::Printer;

/// Sends spans while a server runs. Without the feature `opentelemetry` it sends nothing, and says so to who expects otherwise.
pub struct Spans {
    #[cfg(feature = "opentelemetry")]
    sender: Option<skillcell_server::SpanSender>,
}

#[cfg(feature = "opentelemetry")]
impl Spans {
    pub fn start(runtime: &tokio::runtime::Runtime, _: &Printer) -> anyhow::Result<Spans> {
        use anyhow::Context;
        let sender = skillcell_server::SpanSender::start(runtime.handle());
        Ok(Spans { sender: sender.context("no spans can be sent as OpenTelemetry's variables are set")? })
    }

    /// Sends what is left, while the runtime still runs.
    pub fn finish(self) {
        self.sender.into_iter().for_each(skillcell_server::SpanSender::finish);
    }
}

#[cfg(not(feature = "opentelemetry"))]
impl Spans {
    pub fn start(_: &tokio::runtime::Runtime, printer: &Printer) -> anyhow::Result<Spans> {
        if std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
            printer.print_warning("no spans are sent: this program was built without the feature `opentelemetry`");
        }
        Ok(Spans {})
    }

    pub fn finish(self) {}
}
