//! What package an import comes from, where the name does not say it, and which packages are known to be native code.
//! Tables for what no resolver was asked about, which is every import that no requirement names.

/// Import name, package name.
const NAMES: &[(&str, &str)] = &[
    ("cv2", "opencv-python"),
    ("PIL", "pillow"),
    ("yaml", "PyYAML"),
    ("sklearn", "scikit-learn"),
    ("skimage", "scikit-image"),
    ("bs4", "beautifulsoup4"),
    ("fitz", "pymupdf"),
    ("Bio", "biopython"),
    ("dateutil", "python-dateutil"),
    ("dotenv", "python-dotenv"),
    ("google.genai", "google-genai"),
    ("google.generativeai", "google-generativeai"),
    ("google.cloud.storage", "google-cloud-storage"),
    ("google.protobuf", "protobuf"),
    ("googleapiclient", "google-api-python-client"),
    ("jwt", "PyJWT"),
    ("Crypto", "pycryptodome"),
    ("Cryptodome", "pycryptodomex"),
    ("OpenSSL", "pyOpenSSL"),
    ("nacl", "PyNaCl"),
    ("serial", "pyserial"),
    ("usb", "pyusb"),
    ("win32api", "pywin32"),
    ("win32com", "pywin32"),
    ("psycopg2", "psycopg2-binary"),
    ("MySQLdb", "mysqlclient"),
    ("mysql", "mysql-connector-python"),
    ("pptx", "python-pptx"),
    ("docx", "python-docx"),
    ("magic", "python-magic"),
    ("attr", "attrs"),
    ("pkg_resources", "setuptools"),
    ("setuptools", "setuptools"),
    ("rest_framework", "djangorestframework"),
    ("websocket", "websocket-client"),
    ("socketio", "python-socketio"),
    ("telegram", "python-telegram-bot"),
    ("github", "PyGithub"),
    ("gitlab", "python-gitlab"),
    ("git", "GitPython"),
    ("zmq", "pyzmq"),
    ("grpc", "grpcio"),
    ("paho", "paho-mqtt"),
    ("kafka", "kafka-python"),
    ("ldap", "python-ldap"),
    ("dns", "dnspython"),
    ("Levenshtein", "python-Levenshtein"),
    ("lzo", "python-lzo"),
    ("snappy", "python-snappy"),
    ("OpenGL", "PyOpenGL"),
    ("wx", "wxPython"),
    ("PyQt5", "PyQt5"),
    ("gi", "PyGObject"),
    ("cairo", "pycairo"),
    ("faiss", "faiss-cpu"),
    ("torch", "torch"),
    ("tensorflow", "tensorflow"),
    ("whisper", "openai-whisper"),
    ("speech_recognition", "SpeechRecognition"),
    ("pyaudio", "PyAudio"),
    ("bluetooth", "PyBluez"),
    ("slugify", "python-slugify"),
    ("jose", "python-jose"),
    ("multipart", "python-multipart"),
    ("ruamel", "ruamel.yaml"),
    ("mpl_toolkits", "matplotlib"),
    ("eth_account", "eth-account"),
    ("eth_utils", "eth-utils"),
    ("sentence_transformers", "sentence-transformers"),
    ("duckduckgo_search", "duckduckgo-search"),
    ("ffmpeg", "ffmpeg-python"),
    ("tabula", "tabula-py"),
    ("camelot", "camelot-py"),
    ("fake_useragent", "fake-useragent"),
    ("Xlib", "python-xlib"),
    ("osgeo", "GDAL"),
    ("rdkit", "rdkit"),
    ("talib", "TA-Lib"),
    ("pysqlite3", "pysqlite3-binary"),
    ("sha3", "pysha3"),
    ("_cffi_backend", "cffi"),
    ("clr", "pythonnet"),
    ("RPi", "RPi.GPIO"),
    ("pyarrow", "pyarrow"),
    ("community", "python-louvain"),
    ("igraph", "igraph"),
    ("docker", "docker"),
    ("markdown", "Markdown"),
    ("jinja2", "Jinja2"),
    ("flask", "Flask"),
    ("django", "Django"),
    ("nltk", "nltk"),
];

/// Packages whose every wheel for a computer holds native code, or that are nothing without a native one.
const NATIVE: &[&str] = &[
    "opencv-python", "opencv-python-headless", "opencv-contrib-python", "torch", "torchvision", "torchaudio",
    "tensorflow", "tensorflow-cpu", "tflite-runtime", "jax", "jaxlib", "onnxruntime", "onnxruntime-gpu", "onnx",
    "fastembed", "rembg", "sentence-transformers", "transformers", "tokenizers", "safetensors", "tiktoken",
    "sentencepiece", "spacy", "thinc", "gensim", "faiss-cpu", "hnswlib", "annoy", "chromadb", "lancedb", "pyarrow",
    "polars", "duckdb", "fastparquet", "numba", "llvmlite", "xgboost", "lightgbm", "catboost", "scikit-image",
    "pymupdf", "pikepdf", "pdfium", "pypdfium2", "pdfplumber", "mediapipe", "dlib", "face-recognition", "insightface",
    "easyocr", "paddleocr", "paddlepaddle", "ultralytics", "openai-whisper", "faster-whisper", "ctranslate2", "librosa",
    "soundfile", "PyAudio", "sounddevice", "av", "decord", "biopython", "pysam", "rdkit", "GDAL", "fiona", "rasterio",
    "shapely", "pyproj", "geopandas", "cartopy", "netCDF4", "h5py", "tables", "zarr", "cryptography", "pyOpenSSL",
    "bcrypt", "argon2-cffi", "PyNaCl", "pycryptodome", "pycryptodomex", "paramiko", "asyncssh", "pysha3", "coincurve",
    "ckzg", "web3", "eth-account", "py-evm", "solders", "cffi", "pydantic-core", "pydantic", "jiter", "openai",
    "anthropic", "google-genai", "google-generativeai", "ollama", "groq", "mistralai", "cohere", "litellm", "rpds-py", "orjson",
    "ujson", "msgspec", "simdjson", "pysimdjson", "rapidjson", "python-rapidjson", "uvloop", "httptools", "aiohttp",
    "psycopg2", "psycopg2-binary", "mysqlclient", "asyncpg", "pyodbc", "pymssql", "cx_Oracle", "pylibmc", "pyzmq",
    "grpcio", "protobuf", "confluent-kafka", "psutil", "gevent", "greenlet", "pycurl", "curl_cffi", "primp", "playwright",
    "lupa", "pywin32", "PyGObject", "pycairo", "PyQt5", "PyQt6", "PySide6", "wxPython", "pygame", "kivy", "pyglet",
    "python-Levenshtein", "rapidfuzz", "Levenshtein", "jellyfish", "editdistance", "python-snappy", "lz4", "zstandard",
    "brotli", "python-lzo", "blosc", "TA-Lib", "cvxpy", "ecos", "osqp", "ortools", "pulp", "gurobipy", "highspy",
    "python-ldap", "pysqlite3-binary", "pythonnet", "JPype1", "igraph", "graph-tool", "pygraphviz", "mmh3", "xxhash",
    "cityhash", "pyahocorasick", "re2", "google-re2", "hyperscan", "yara-python", "pyre2", "tree-sitter", "pycocotools",
    "bitarray", "cytoolz", "lru-dict", "pyclipper", "imagecodecs", "Wand", "pyvips", "blis", "cymem", "murmurhash",
    "pystemmer", "py-rust-stemmers", "python-magic", "RPi.GPIO", "spidev", "pybullet", "open3d", "trimesh", "vtk",
    "pyvista", "mujoco", "mpi4py", "pycuda", "cupy", "triton", "vllm", "llama-cpp-python", "bitsandbytes", "deepspeed",
    "accelerate", "diffusers", "timm", "datasets", "ray", "dask-distributed", "scikit-surprise", "prophet", "pystan",
    "cmdstanpy", "pymc", "pyjnius", "lxml-html", "selectolax", "pyroaring", "sudachipy", "mecab-python3", "fugashi",
    "jpype1", "pyperformance", "pymongo-crypt", "snowflake-connector-python", "temporalio", "curl-cffi", "clr",
];

/// Modules that Python's standard library had, and no longer has.
const GONE: &[&str] = &[
    "aifc", "asynchat", "asyncore", "audioop", "binhex", "cgi", "cgitb", "chunk", "crypt", "distutils", "formatter",
    "imghdr", "imp", "lib2to3", "macpath", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "parser", "pipes",
    "smtpd", "sndhdr", "spwd", "sunau", "symbol", "telnetlib", "uu", "xdrlib",
];

/// The package that a module comes from.
pub fn package(module: &str) -> &str {
    let mut longest = module;
    loop {
        if let Some((_, package)) = NAMES.iter().find(|(name, _)| *name == longest) {
            return package;
        }
        match longest.rsplit_once('.') {
            Some((shorter, _)) => longest = shorter,
            None => return longest,
        }
    }
}

/// Whether a package is known to be native code, or to need some.
pub fn is_native(package: &str) -> bool {
    NATIVE.iter().any(|name| same(name, package))
}

/// Whether this was a module of the standard library.
pub fn is_gone(module: &str) -> bool {
    GONE.contains(&module.split('.').next().unwrap_or(module))
}

/// Whether two spellings name one package.
pub fn same(one: &str, other: &str) -> bool {
    normal(one) == normal(other)
}

pub fn normal(name: &str) -> String {
    let mut made = String::new();
    for c in name.trim().chars() {
        let c = if matches!(c, '_' | '.') { '-' } else { c.to_ascii_lowercase() };
        if c != '-' || !made.ends_with('-') {
            made.push(c);
        }
    }
    made
}

/// The package that a requirement names: what stands before extras, versions and markers.
pub fn required(requirement: &str) -> &str {
    let end = requirement.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    requirement.trim_start()[..].get(..end.unwrap_or(requirement.len())).unwrap_or(requirement).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_leads_to_its_package() {
        assert_eq!(package("cv2"), "opencv-python");
        assert_eq!(package("google.genai.types"), "google-genai");
        assert_eq!(package("rich.table"), "rich");
    }

    #[test]
    fn a_requirement_names_a_package() {
        assert_eq!(required("web3>=6.0.0"), "web3");
        assert_eq!(required("uvicorn[standard] ; python_version > '3'"), "uvicorn");
        assert!(same("Google_GenAI", "google-genai"));
    }

    #[test]
    fn what_the_standard_library_lost_is_known() {
        assert!(is_gone("telnetlib") && is_gone("distutils.core") && !is_gone("json"));
    }
}
