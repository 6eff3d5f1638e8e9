//! What calls do that a sandbox changes, by their dotted names. Tables, nothing else.

use serde::Serialize;

/// A kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Starts a program or another process.
    Process,
    /// Waits for connections.
    Server,
    /// Speaks something else than HTTP.
    Socket,
    /// Talks to hardware.
    Device,
    /// Makes HTTP requests.
    Http,
    /// Loads native code.
    NativeLibrary,
    Signal,
    Thread,
    /// Runs code that it makes.
    Code,
    /// Asks a person at a terminal.
    Input,
    /// Fetches a model or a data set.
    Download,
    ReadFile,
    WriteFile,
}

impl Effect {
    /// Whether a cell lacks this, whatever is granted.
    pub fn is_lacking(self) -> bool {
        use Effect::*;
        matches!(self, Process | Server | Socket | Device | NativeLibrary | Signal)
    }

    /// What it is, after "it".
    pub fn words(self) -> &'static str {
        match self {
            Effect::Process => "starts a program or process",
            Effect::Server => "waits for connections",
            Effect::Socket => "uses a network protocol that is not HTTP",
            Effect::Device => "talks to hardware",
            Effect::Http => "makes HTTP requests",
            Effect::NativeLibrary => "loads native code",
            Effect::Signal => "sets a timer that a signal ends",
            Effect::Thread => "starts threads",
            Effect::Code => "runs code that it makes",
            Effect::Input => "asks on a terminal",
            Effect::Download => "downloads a model or data set",
            Effect::ReadFile => "reads files",
            Effect::WriteFile => "writes files",
        }
    }
}

/// Exact names, or all below one that ends in `.`, or all that begin so where it ends in `*`.
const TABLE: &[(Effect, &[&str])] = &[
    (
        Effect::Process,
        &[
            "subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call",
            "subprocess.check_output", "subprocess.getoutput", "subprocess.getstatusoutput", "os.system", "os.popen",
            "os.exec*", "os.fork", "os.forkpty", "os.spawn*", "os.posix_spawn*", "os.kill", "os.startfile", "pty.",
            "multiprocessing.Process", "multiprocessing.Pool", "multiprocessing.Manager", "multiprocessing.Queue",
            "multiprocessing.get_context*", "multiprocessing.pool.Pool", "multiprocessing.process.",
            "multiprocessing.shared_memory.", "concurrent.futures.ProcessPoolExecutor",
            "concurrent.futures.process.ProcessPoolExecutor", "asyncio.create_subprocess_exec",
            "asyncio.create_subprocess_shell", "asyncio.subprocess.create*", "pexpect.", "sh.", "plumbum.",
            "invoke.run", "git.Repo*", "git.cmd.", "pytesseract.", "pdf2image.", "ffmpeg.", "selenium.webdriver.",
            "playwright.", "pyppeteer.", "undetected_chromedriver.", "webdriver_manager.", "pdfkit.", "imgkit.",
            "pypandoc.", "graphviz.Digraph.render", "graphviz.Graph.render", "graphviz.Source.render",
            "pydub.AudioSegment.from*", "moviepy.", "docker.", "nmap.", "wand.", "camelot.", "tabula.", "weasyprint.",
            "rpy2.", "jpype.", "oct2py.", "matlab.", "loky.", "billiard.", "celery.Celery*", "ray.", "dask.distributed.",
            "psutil.Popen",
        ],
    ),
    (
        Effect::Server,
        &[
            "socketserver.", "http.server.HTTPServer*", "http.server.ThreadingHTTPServer*", "wsgiref.simple_server.",
            "xmlrpc.server.", "asyncio.start_server", "asyncio.start_unix_server", "socket.socket.bind",
            "socket.socket.listen", "socket.create_server", "uvicorn.run", "uvicorn.Server*", "flask.Flask.run",
            "aiohttp.web.run_app", "waitress.serve", "gradio.", "streamlit.", "dash.Dash.run*", "grpc.server",
            "websockets.serve", "socketio.Server*",
        ],
    ),
    (
        Effect::Socket,
        &[
            "socket.create_connection", "socket.socket.connect", "socket.socket.connect_ex", "socket.socket.sendto",
            "asyncio.open_connection", "asyncio.open_unix_connection", "smtplib.SMTP", "smtplib.SMTP_SSL",
            "smtplib.LMTP", "imaplib.IMAP4*", "poplib.POP3*", "ftplib.FTP*", "telnetlib.", "telnetlib3.", "nntplib.",
            "paramiko.", "asyncssh.", "fabric.Connection*", "redis.", "pymongo.", "motor.", "psycopg.", "psycopg2.",
            "asyncpg.", "pg8000.", "mysql.connector.", "pymysql.", "MySQLdb.", "aiomysql.", "pyodbc.", "pymssql.",
            "oracledb.", "cx_Oracle.", "cassandra.", "websockets.", "websocket.", "socketio.", "signalrcore.",
            "grpc.", "paho.", "pika.", "aio_pika.", "kafka.", "confluent_kafka.", "nats.", "zmq.", "stomp.", "ldap3.",
            "ldap.", "dns.resolver.*", "dns.query.", "aiodns.", "ping3.", "icmplib.", "scapy.", "pysnmp.", "pymodbus.",
            "snap7.", "opcua.", "asyncua.", "aioftp.", "aiosmtplib.", "aioimaplib.", "imap_tools.", "exchangelib.",
            "telethon.", "pyrogram.", "irc.", "slixmpp.", "rtmidi.", "socks.", "logging.handlers.SMTPHandler",
            "logging.handlers.SysLogHandler", "logging.handlers.SocketHandler", "logging.handlers.DatagramHandler",
            "ntplib.", "whois.", "pysftp.", "smbclient.", "smb.", "stem.", "torpy.", "aioquic.", "h2.", "sshtunnel.",
            "memcache.", "pymemcache.", "pylibmc.", "etcd3.", "kazoo.", "hazelcast.", "neo4j.", "clickhouse_driver.",
            "aerospike.", "couchdb.", "happybase.", "pyhive.", "impala.", "thrift.", "discord.",
        ],
    ),
    (
        Effect::Device,
        &[
            "serial.", "usb.", "hid.", "bluetooth.", "bleak.", "RPi.", "gpiozero.", "smbus.", "smbus2.", "spidev.",
            "board.", "sounddevice.", "pyaudio.", "cv2.VideoCapture", "picamera.", "picamera2.", "pynput.",
            "pyautogui.", "keyboard.", "mouse.", "mss.", "pyperclip.", "can.", "nfc.", "pyvisa.", "winreg.", "pygame.",
        ],
    ),
    (
        Effect::NativeLibrary,
        &[
            "ctypes.CDLL", "ctypes.PyDLL", "ctypes.WinDLL", "ctypes.OleDLL", "ctypes.cdll*", "ctypes.windll*",
            "ctypes.pydll*", "ctypes.pythonapi*", "ctypes.util.find_library", "cffi.FFI*", "cffi.api.FFI*",
            "pyximport.", "importlib.machinery.ExtensionFileLoader", "imp.load_dynamic", "_ctypes.", "torch.ops.load*",
            "torch.utils.cpp_extension.", "numpy.ctypeslib.load_library", "wasmtime.", "wasmer.", "clr.",
        ],
    ),
    (Effect::Signal, &["signal.alarm", "signal.setitimer", "signal.pause", "signal.sigwait*"]),
    (
        Effect::Thread,
        &[
            "threading.Thread", "threading.Timer", "concurrent.futures.ThreadPoolExecutor",
            "concurrent.futures.thread.ThreadPoolExecutor", "asyncio.to_thread", "multiprocessing.pool.ThreadPool",
            "multiprocessing.dummy.", "_thread.start_new_thread", "gevent.", "eventlet.", "joblib.Parallel",
        ],
    ),
    (Effect::Code, &["exec", "eval", "compile", "runpy.", "marshal.loads", "pickle.loads", "pickle.load", "dill.load*"]),
    (Effect::Input, &["input", "getpass.getpass", "breakpoint", "code.interact", "pdb.set_trace"]),
    (
        Effect::Download,
        &[
            "huggingface_hub.", "fastembed.", "sentence_transformers.SentenceTransformer*", "transformers.*",
            "nltk.download", "spacy.load", "spacy.cli.download", "torch.hub.", "tensorflow_hub.", "gdown.", "wget.",
            "rembg.new_session", "whisper.load_model", "faster_whisper.", "tiktoken.get_encoding",
            "tiktoken.encoding_for_model", "sklearn.datasets.fetch*", "easyocr.Reader", "datasets.load_dataset",
            "kagglehub.", "yt_dlp.", "youtube_dl.", "pytube.", "insightface.", "open_clip.", "timm.create_model",
            "torchvision.models.*", "keras.applications.*", "ultralytics.YOLO", "flair.", "stanza.download", "gensim.downloader.",
        ],
    ),
    (
        Effect::Http,
        &[
            "requests.*", "httpx.*", "urllib.request.*", "urllib3.*", "http.client.HTTPConnection",
            "http.client.HTTPSConnection", "xmlrpc.client.ServerProxy*", "aiohttp.ClientSession*", "aiohttp.request",
            "pycurl.Curl*", "curl_cffi.*", "tornado.httpclient.*", "treq.*", "twisted.web.client.*", "httplib2.*",
            "requests_html.*", "requests_toolbelt.*", "cloudscraper.*", "mechanize.*", "mechanicalsoup.*", "grequests.*",
            "robobrowser.*", "scrapy.*", "feedparser.parse", "newspaper.*", "trafilatura.fetch_url", "niquests.*",
            "urllib.robotparser.RobotFileParser*", "geventhttpclient.*", "primp.*", "hyper.*", "uplink.*", "zeep.*",
            "suds.*", "gql.*", "sgqlc.*", "logging.handlers.HTTPHandler", "web3.*", "fsspec.*", "smart_open.*", "s3fs.*",
            "gcsfs.*", "urllib.urlopen", "urllib2.urlopen", "requests_futures.*", "aiohttp_retry.*", "pip.*",
        ],
    ),
    (
        Effect::WriteFile,
        &[
            "pathlib.Path.write_text", "pathlib.Path.write_bytes", "pathlib.Path.mkdir", "pathlib.Path.touch",
            "pathlib.Path.unlink", "pathlib.Path.rename", "pathlib.Path.replace", "pathlib.Path.rmdir",
            "pathlib.Path.symlink_to", "pathlib.Path.chmod", "os.remove", "os.unlink", "os.rename", "os.replace",
            "os.mkdir", "os.makedirs", "os.rmdir", "os.removedirs", "os.truncate", "os.symlink", "os.link",
            "shutil.rmtree", "shutil.make_archive", "numpy.save", "numpy.savez*", "numpy.savetxt", "joblib.dump",
            "logging.FileHandler", "logging.handlers.RotatingFileHandler", "logging.handlers.TimedRotatingFileHandler",
            "shelve.open", "dbm.open",
        ],
    ),
    (
        Effect::ReadFile,
        &[
            "pathlib.Path.read_text", "pathlib.Path.read_bytes", "pathlib.Path.iterdir", "pathlib.Path.glob",
            "pathlib.Path.rglob", "os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob", "os.open",
            "linecache.getline", "fileinput.input", "zipfile.ZipFile", "tarfile.open", "PIL.Image.open",
            "openpyxl.load_workbook", "pypdf.PdfReader", "PyPDF2.PdfReader", "docx.Document", "pptx.Presentation",
            "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "joblib.load", "wave.open", "cv2.imread", "fitz.open",
            "pymupdf.open", "pdfplumber.open", "configparser.ConfigParser.read", "dotenv.load_dotenv", "mmap.mmap",
            "xml.etree.ElementTree.parse", "lxml.etree.parse", "soundfile.read", "librosa.load", "Bio.SeqIO.parse",
        ],
    ),
];

/// What a call does, by its name alone.
pub fn of(name: &str) -> Option<Effect> {
    TABLE.iter().find(|(_, names)| names.iter().any(|pattern| matches(pattern, name))).map(|(effect, _)| *effect)
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_suffix('.')) {
        (Some(start), _) => name.starts_with(start),
        (_, Some(top)) => name.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        _ => name == pattern,
    }
}

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
    ("yfinance", &["https://query1.finance.yahoo.com/*", "https://query2.finance.yahoo.com/*", "https://fc.yahoo.com/*"]),
    ("alpha_vantage", &["https://www.alphavantage.co/*"]),
    ("googletrans", &["https://translate.googleapis.com/*"]),
    ("deep_translator", &["https://translate.google.com/*"]),
    ("gtts", &["https://translate.google.com/*"]),
    ("googleapiclient", &["https://www.googleapis.com/*"]),
    ("pinecone", &["https://api.pinecone.io/*"]),
    ("tavily", &["https://api.tavily.com/*"]),
    ("telegram", &["https://api.telegram.org/*"]),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_whole_below_or_by_their_beginning() {
        assert_eq!(of("subprocess.run"), Some(Effect::Process));
        assert_eq!(of("subprocess.list2cmdline"), None);
        assert_eq!(of("paramiko.SSHClient.connect"), Some(Effect::Socket));
        assert_eq!(of("paramikox.SSHClient"), None);
        assert_eq!(of("os.execvp"), Some(Effect::Process));
        assert_eq!(of("requests.Session.post"), Some(Effect::Http));
    }

    #[test]
    fn a_service_is_found_by_the_module_it_is_below() {
        assert_eq!(service("google.genai.types").map(|found| found.0), Some("google.genai"));
        assert_eq!(service("openai").map(|found| found.0), Some("openai"));
        assert_eq!(service("openaix"), None);
    }
}
