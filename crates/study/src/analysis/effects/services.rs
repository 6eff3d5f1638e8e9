//! Clients for one service, by their module, and where that service is.

/// Clients for one service, and where it is.
const SERVICES: &[(&str, &[&str])] = &[
    ("openai", &["https://api.openai.com/*"]),
    ("anthropic", &["https://api.anthropic.com/*"]),
    ("google.genai", &["https://generativelanguage.googleapis.com/*"]),
    ("google.generativeai", &["https://generativelanguage.googleapis.com/*"]),
    ("ollama", &["http://localhost:11434/*"]),
    ("cohere", &["https://api.cohere.com/*"]),
    ("mistralai", &["https://api.mistral.ai/*"]),
    ("groq", &["https://api.groq.com/*"]),
    ("together", &["https://api.together.xyz/*"]),
    ("replicate", &["https://api.replicate.com/*"]),
    ("elevenlabs", &["https://api.elevenlabs.io/*"]),
    ("stripe", &["https://api.stripe.com/*"]),
    ("twilio", &["https://api.twilio.com/*"]),
    ("slack_sdk", &["https://slack.com/api/*"]),
    ("sendgrid", &["https://api.sendgrid.com/*"]),
    ("github", &["https://api.github.com/*"]),
    ("gitlab", &["https://gitlab.com/*"]),
    ("tweepy", &["https://api.twitter.com/*"]),
    ("praw", &["https://oauth.reddit.com/*", "https://www.reddit.com/*"]),
    ("notion_client", &["https://api.notion.com/*"]),
    ("wikipedia", &["https://*.wikipedia.org/*"]),
    ("wikipediaapi", &["https://*.wikipedia.org/*"]),
    (
        "yfinance",
        &["https://query1.finance.yahoo.com/*", "https://query2.finance.yahoo.com/*", "https://fc.yahoo.com/*"],
    ),
    ("alpha_vantage", &["https://www.alphavantage.co/*"]),
    ("googletrans", &["https://translate.googleapis.com/*"]),
    ("deep_translator", &["https://translate.google.com/*"]),
    ("gtts", &["https://translate.google.com/*"]),
    ("googleapiclient", &["https://www.googleapis.com/*"]),
    ("pinecone", &["https://api.pinecone.io/*"]),
    ("tavily", &["https://api.tavily.com/*"]),
    ("telegram", &["https://api.telegram.org/*"]),
    ("geopy", &["https://nominatim.openstreetmap.org/*"]),
    ("arxiv", &["https://export.arxiv.org/*"]),
    ("sentry_sdk", &["https://*.ingest.sentry.io/*"]),
    ("boto3", &["https://*/*"]),
    ("botocore", &["https://*/*"]),
    ("aioboto3", &["https://*/*"]),
    ("google.cloud", &["https://*.googleapis.com/*"]),
    ("azure", &["https://*/*"]),
    ("elasticsearch", &["https://*/*"]),
    ("opensearchpy", &["https://*/*"]),
    ("weaviate", &["https://*/*"]),
    ("qdrant_client", &["https://*/*"]),
    ("supabase", &["https://*/*"]),
    ("influxdb_client", &["https://*/*"]),
    ("duckduckgo_search", &["https://*/*"]),
    ("litellm", &["https://*/*"]),
    ("langchain", &["https://*/*"]),
    ("ccxt", &["https://*/*"]),
];

/// The service that a module is the client of, and its rules.
pub fn service(module: &str) -> Option<(&'static str, &'static [&'static str])> {
    let below = |top: &str| module.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    SERVICES.iter().find(|(top, _)| below(top)).map(|(top, rules)| (*top, *rules))
}
