//! Which modules a distribution brings: read from its wheel, else guessed from its name. A guess is good enough for the message
//! about an import that failed, and is used for nothing else.

use std::collections::BTreeSet;

use crate::provision::Wheel;

/// The most modules that are kept for a distribution.
const MAX_MODULES: usize = 50;

/// Distributions whose modules are named otherwise.
const NAMED_OTHERWISE: &[(&str, &[&str])] = &[
    ("attrs", &["attr", "attrs"]),
    ("beautifulsoup4", &["bs4"]),
    ("biopython", &["Bio", "BioSQL"]),
    ("faiss-cpu", &["faiss"]),
    ("google-api-python-client", &["googleapiclient"]),
    ("google-cloud-storage", &["google.cloud.storage"]),
    ("google-genai", &["google.genai"]),
    ("google-generativeai", &["google.generativeai"]),
    ("grpcio", &["grpc"]),
    ("imbalanced-learn", &["imblearn"]),
    ("jinja2", &["jinja2"]),
    ("llama-cpp-python", &["llama_cpp"]),
    ("lru-dict", &["lru"]),
    ("mysqlclient", &["MySQLdb"]),
    ("opencv-contrib-python", &["cv2"]),
    ("opencv-contrib-python-headless", &["cv2"]),
    ("opencv-python", &["cv2"]),
    ("opencv-python-headless", &["cv2"]),
    ("pillow", &["PIL"]),
    ("protobuf", &["google.protobuf"]),
    ("psycopg2-binary", &["psycopg2"]),
    ("pycryptodome", &["Crypto"]),
    ("pycryptodomex", &["Cryptodome"]),
    ("pymupdf", &["fitz", "pymupdf"]),
    ("pynacl", &["nacl"]),
    ("pyopenssl", &["OpenSSL"]),
    ("pypdf", &["pypdf"]),
    ("pyserial", &["serial"]),
    ("python-dateutil", &["dateutil"]),
    ("python-docx", &["docx"]),
    ("python-dotenv", &["dotenv"]),
    ("python-magic", &["magic"]),
    ("python-pptx", &["pptx"]),
    ("pyyaml", &["yaml"]),
    ("pyzmq", &["zmq"]),
    ("rpds-py", &["rpds"]),
    ("scikit-image", &["skimage"]),
    ("scikit-learn", &["sklearn"]),
    ("torch", &["torch", "functorch"]),
];

/// What the files of a wheel can be imported as.
pub fn modules_of_wheel(wheel: &Wheel) -> Vec<String> {
    let mut names = BTreeSet::new();
    for path in wheel.members().iter().map(|member| member.path.as_str()).filter(|path| path.ends_with(".py")) {
        let top = path.split('/').next().unwrap_or(path);
        let name = top.strip_suffix(".py").unwrap_or(top);
        let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if plain && !name.is_empty() && names.len() < MAX_MODULES {
            names.insert(name.to_owned());
        }
    }
    names.into_iter().collect()
}

/// What a distribution of this name is likely imported as.
pub fn guess_modules(name: &str) -> Vec<String> {
    let named = NAMED_OTHERWISE.iter().find(|(distribution, _)| *distribution == name);
    named.map_or_else(
        || vec![name.replace('-', "_")],
        |(_, modules)| modules.iter().map(|module| (*module).to_owned()).collect(),
    )
}
