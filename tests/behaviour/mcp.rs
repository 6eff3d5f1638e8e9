//! Promise: an agent that speaks MCP can use skills, in both eras of the protocol, over stdio and over HTTP; it gets at
//! nothing that its operator did not grant, and nothing is left of it when it goes away.

mod client;
mod first_start;
mod http;
mod leaving;
mod official;
mod scripts;
mod sessions;
mod stdio;

#[test]
fn every_fixture_is_used() {
    let folder = crate::common::tests().join("skills/mcp");
    let sources = [include_str!("mcp/stdio.rs"), include_str!("mcp/http.rs"), include_str!("mcp/leaving.rs")].concat();
    for skill in std::fs::read_dir(folder).unwrap() {
        let name = skill.unwrap().file_name().into_string().unwrap();
        assert!(sources.contains(&format!("\"{name}\"")), "no test runs `{name}`");
    }
}
