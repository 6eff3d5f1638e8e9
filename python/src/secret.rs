//! A secret that is granted with its value, which a program has and no variable or file does.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use skillcell::Grants;
use skillcell_policy::BadGrant;
use zeroize::Zeroizing;

/// The use of a secret with these hosts: an entry of `secrets`. The skill sees a placeholder, and the value is put in while a
/// request goes to one of the hosts. Nothing shows the value: not `repr`, not the audit, not the report.
#[pyclass(frozen, module = "skillcell")]
pub struct Secret {
    /// Its name.
    #[pyo3(get)]
    name: String,
    value: Zeroizing<String>,
    /// As after the `@` of `--secret`.
    #[pyo3(get)]
    hosts: Vec<String>,
}

#[pymethods]
impl Secret {
    #[new]
    fn new(name: String, value: &str, hosts: &Bound<'_, PyAny>) -> PyResult<Secret> {
        let hosts = match hosts.cast::<PyString>() {
            Ok(host) => vec![host.to_str()?.to_owned()],
            Err(_) => hosts.try_iter()?.map(|host| host?.extract::<String>()).collect::<PyResult<_>>()?,
        };
        if hosts.is_empty() {
            return Err(PyTypeError::new_err(format!("the secret `{name}` is for no host")));
        }
        Ok(Secret { name, value: Zeroizing::new(value.to_owned()), hosts })
    }

    fn __repr__(&self) -> String {
        let hosts: Vec<String> = self.hosts.iter().map(|host| skillcell_quote::one_line(host)).collect();
        format!("<Secret {} for {}>", skillcell_quote::one_line(&self.name), hosts.join(", "))
    }
}

impl Secret {
    pub fn add_to(&self, grants: &mut Grants) -> Result<(), BadGrant> {
        self.hosts.iter().try_for_each(|host| grants.add_given_secret(&self.name, &self.value, host))
    }
}
