//! Python objects as JSON text and back, by Python's own `json`: what it means there is what it means here.

mod decode;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;

/// `json.loads`.
static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
/// The bound `encode` of an encoder that writes what JSON has, and raises `ValueError` for NaN and infinity.
static ENCODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A Python object as JSON text. `what` names it in errors.
pub fn encode_object(what: &str, object: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = object.py();
    let encode = ENCODE.get_or_try_init(py, || new_encoder(py))?;
    let text = encode.bind(py).call1((object,))?.cast_into::<PyString>()?;
    // A lone surrogate is a character to Python, and none to JSON.
    let text = text.to_str().map_err(|_| PyValueError::new_err(format!("the {what} have half of a surrogate pair")))?;
    Ok(text.to_owned())
}

/// From this length on, a text is not copied for `json.loads`.
const LONG_BYTES: usize = 64 << 10;

/// What Python makes of a JSON text.
pub fn decode_text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if text.len() >= LONG_BYTES
        && let Some(made) = decode::decode_long(py, text)?
    {
        return Ok(made);
    }
    LOADS.import(py, "json", "loads")?.call1((text,))
}

/// What Python makes of something that is JSON to Rust.
pub fn decode_value<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    decode_text(py, &text)
}

fn new_encoder(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let options = PyDict::new(py);
    options.set_item("ensure_ascii", false)?;
    options.set_item("allow_nan", false)?;
    options.set_item("separators", (",", ":"))?;
    let encoder = py.import("json")?.getattr("JSONEncoder")?.call((), Some(&options))?;
    Ok(encoder.getattr("encode")?.unbind())
}
