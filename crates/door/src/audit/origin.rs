//! Which request a call came with, where a server made it. It decides nothing.

/// Which request a call came with, as the audit names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestOrigin {
    /// The name of the request, as its answer has it.
    pub request: Option<String>,
    /// W3C's `traceparent`.
    pub traceparent: Option<String>,
    /// The name of the client's token.
    pub client: Option<String>,
}

impl RequestOrigin {
    /// The request of this name.
    pub fn new(request: impl Into<String>) -> RequestOrigin {
        RequestOrigin { request: Some(request.into()), ..RequestOrigin::default() }
    }

    /// The same, by the bearer of this token.
    #[must_use]
    pub fn by(self, client: Option<&str>) -> RequestOrigin {
        RequestOrigin { client: client.map(str::to_owned), ..self }
    }
}
