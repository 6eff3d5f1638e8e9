//! What computing costs in a cell, by kind of work: `cargo bench --bench compute`. The same pure Python
//! (skills-compat/demo/kernels) in fresh cells and in processes of this machine's Python, one after the other in each
//! round; each tells its own time, without its start. Medians, as a Markdown table.

use std::process::Command;

use serde_json::{Value, json};
use skillcell::{Call, Host, Outcome, Skill};

const ROUNDS: usize = 15;
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/kernels");

fn main() {
    let host = Host::builder().build().expect("the cache folder can be used");
    let skill = host.skill(FOLDER).expect("the demo skill is there");
    let names = in_cell(&host, &skill, &json!({}));
    let names: Vec<&str> = names["kernels"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let mut times = vec![[Vec::new(), Vec::new()]; names.len()];
    for _ in 0..ROUNDS {
        for (name, [cell, native]) in names.iter().zip(&mut times) {
            let (inside, outside) = (in_cell(&host, &skill, &json!({"kernel": name})), in_python(name));
            assert_eq!(inside["result"], outside["result"], "{name} gives the same in both");
            cell.push(inside["ms"].as_f64().expect("a time"));
            native.push(outside["ms"].as_f64().expect("a time"));
        }
    }
    println!("| kind of work | {}, ms | in a cell, ms | times |\n|---|---:|---:|---:|", version());
    let mut logarithms = 0.0;
    for (name, [cell, native]) in names.iter().zip(times) {
        let (cell, native) = (median(cell), median(native));
        logarithms += (cell / native).ln();
        println!("| {name} | {native:.1} | {cell:.1} | {:.1} |", cell / native);
    }
    println!("| **geometric mean** | | | **{:.1}** |", (logarithms / names.len() as f64).exp());
}

fn in_cell(host: &Host, skill: &Skill, params: &Value) -> Value {
    let report = host.call(skill, &Call::new(params.clone())).expect("the host does its part");
    let Outcome::Returned(json) = report.outcome else { panic!("{params}: {}", report.outcome.describe()) };
    serde_json::from_str(json.get()).expect("JSON")
}

fn in_python(kernel: &str) -> Value {
    let output = python().args(["-I", "kernels.py", kernel]).output().expect("Python starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{kernel}: {error}"))
}

fn python() -> Command {
    let mut command = Command::new(std::env::var_os("SKILLCELL_PYTHON").unwrap_or_else(|| "python3".into()));
    command.current_dir(FOLDER);
    command
}

fn version() -> String {
    let output = python().args(["-I", "-c", "import platform; print('CPython', platform.python_version())"]).output();
    String::from_utf8_lossy(&output.expect("Python starts").stdout).trim().to_owned()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
