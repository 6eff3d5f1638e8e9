//! Agent Skills folders over MCP: one tool runs their scripts, and the Skills extension serves their files.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::{Era, Session, program, text_of};

const SKILL: &str = "served/word-count";
const TOOL: &str = "run_skill_script";
const URI: &str = "skill://served/word-count/SKILL.md";

fn start(era: Era, flags: &[&str]) -> Session {
    Session::of(era, program().arg(crate::common::tests().join("skills/served/word-count")).args(flags))
}

fn run(session: &mut Session, rest: Value) -> Value {
    let mut arguments = json!({"skill": SKILL, "script": "scripts/count.py"});
    arguments.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    session.call(TOOL, arguments)
}

#[test]
fn a_script_runs_with_its_arguments_input_and_files_and_gives_back_what_it_wrote() {
    for era in [Era::Old, Era::New] {
        let mut session = start(era, &[]);
        let tools = session.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!((tools.as_array().unwrap().len(), &tools[0]["name"]), (1, &json!(TOOL)), "{tools}");
        assert_eq!(tools[0]["inputSchema"]["properties"]["skill"]["enum"], json!([SKILL]));
        assert!(tools[0].to_string().contains("Counts words") && tools[0].to_string().contains("scripts/count.py"));

        let counted = run(&mut session, json!({"stdin": "a b c d", "args": ["--out", "made/é.txt"]}));
        assert_eq!((text_of(&counted), &counted["isError"]), ("4\n", &json!(false)), "{counted}");
        let file = json!({"path": "made/é.txt", "bytes": 8, "text": "4 words\n"});
        assert_eq!(
            counted["structuredContent"],
            json!({"exit_code": 0, "stdout": "4\n", "stderr": "", "files": [file]})
        );
        let given = json!({"args": ["in/x.txt"], "files": [{"path": "in/x.txt", "base64": "b25lIHR3bw=="}]});
        assert_eq!(text_of(&run(&mut session, given)), "2\n");
        assert_eq!(text_of(&run(&mut session, json!({"args": ["assets/sample.txt"]}))), "3\n");
        // A fresh folder each time.
        let gone = run(&mut session, json!({"args": ["in/x.txt"]}));
        assert!(gone["isError"] == true && gone.to_string().contains("FileNotFoundError"), "{gone}");
    }
}

#[test]
fn an_exit_code_that_is_not_0_is_an_error_with_the_code_and_what_was_printed() {
    let mut session = start(Era::New, &["--timeout", "5"]);
    let failed = run(&mut session, json!({"args": ["--exit", "3"]}));
    assert_eq!((&failed["isError"], &failed["structuredContent"]["exit_code"]), (&json!(true), &json!(3)), "{failed}");
    assert!(failed["content"].to_string().contains("exit code 3"), "{failed}");
    assert_eq!(failed["structuredContent"]["stderr"], "as you asked\n");
    let late = run(&mut session, json!({"args": ["--sleep", "60"]}));
    assert_eq!((&late["isError"], &late["_meta"]["skillcell/limit"]), (&json!(true), &json!("deadline")), "{late}");
}

#[test]
fn a_large_file_is_a_resource_of_its_client() {
    let mut session = start(Era::New, &[]);
    let made = run(&mut session, json!({"args": ["--large", "200000"]}));
    let file = &made["structuredContent"]["files"][0];
    assert_eq!((&file["path"], &file["bytes"]), (&json!("large.bin"), &json!(200_000)), "{made}");
    let uri = file["resource"].as_str().unwrap().to_owned();
    let read = session.ask("resources/read", json!({"uri": uri}))["result"]["contents"][0].clone();
    assert_eq!(read["mimeType"], "application/octet-stream");
    assert_eq!(read["blob"].as_str().unwrap(), format!("{}//8=", "////".repeat(66_666)));
    let mut other = start(Era::New, &[]);
    assert!(other.ask("resources/read", json!({"uri": uri}))["error"].is_object());
}

#[test]
fn nothing_that_a_client_sends_widens_a_script_or_leads_out_of_its_folder() {
    let mut session = start(Era::New, &[]);
    let denied = run(&mut session, json!({"args": ["--fetch", "http://127.0.0.1:9/"]}));
    assert_eq!((&denied["isError"], &denied["_meta"]["skillcell/denials"][0]["kind"]), (&json!(true), &json!("http")));
    let mut ask = |arguments: Value| session.ask("tools/call", json!({"name": TOOL, "arguments": arguments}));
    let script = "scripts/count.py";
    let wide = [
        json!({"skill": SKILL, "script": script, "allow_http": ["GET http://127.0.0.1:9/*"]}),
        json!({"skill": SKILL, "script": script, "limits": {"timeout": 60}}),
        json!({"skill": "../served/word-count", "script": script}),
        json!({"skill": SKILL, "script": script, "files": [{"path": "x"}]}),
        json!({"script": script}),
    ];
    for arguments in wide {
        let answer = ask(arguments.clone());
        assert_eq!(answer["error"]["code"], -32602, "{arguments}: {answer}");
    }
    for file in ["../x", "/etc/x", "a/../../x", ""] {
        let answer = ask(json!({"skill": SKILL, "script": script, "files": [{"path": file, "text": "x"}]}));
        assert_eq!(answer["result"]["isError"], true, "{file}: {answer}");
    }
    for missing in ["../../../etc/passwd", "scripts/none.py", "/etc/passwd", ""] {
        let answer = ask(json!({"skill": SKILL, "script": missing}));
        assert!(answer.to_string().contains("has no script"), "{missing}: {answer}");
    }
    // Its folder is no tool.
    let called = session.ask("tools/call", json!({"name": "served_word_count", "arguments": {}}));
    assert_eq!(called["error"]["code"], -32602, "{called}");
}

#[test]
fn the_skills_extension_lists_the_folder_and_every_file_has_the_digest_that_is_listed() {
    for era in [Era::Old, Era::New] {
        let mut session = start(era, &[]);
        if era == Era::New {
            let found = session.ask("server/discover", json!({}))["result"]["capabilities"].clone();
            assert_eq!(found["extensions"]["io.modelcontextprotocol/skills"], json!({}), "{found}");
        }
        let list = session.ask("skills/list", json!({}))["result"].clone();
        assert!(list["resultType"] == "complete" && list["ttlMs"].is_u64() && list["cacheScope"].is_string(), "{list}");
        let skill = &list["skills"][0];
        assert_eq!((list["skills"].as_array().unwrap().len(), &skill["uri"]), (1, &json!(URI)), "{list}");
        assert_eq!(skill["frontmatter"]["metadata"], json!({"version": "1.0"}));
        assert_eq!(skill["resources"].as_array().unwrap().len(), 3);
        for file in skill["resources"].as_array().unwrap() {
            let read = session.ask("resources/read", json!({"uri": file["uri"]}))["result"]["contents"][0].clone();
            let text = read["text"].as_str().unwrap();
            let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((&file["digest"], &file["size"]), (&json!(format!("sha256:{digest}")), &json!(text.len())));
        }
        let one = session.ask("skills/get", json!({"uri": URI}))["result"].clone();
        assert_eq!(&one["skill"], skill);
        for unknown in ["skill://other/SKILL.md", "skill://served/word-count", "file:///etc/passwd"] {
            assert_eq!(session.ask("skills/get", json!({"uri": unknown}))["error"]["code"], -32602, "{unknown}");
        }
        let unlisted = session.ask("resources/read", json!({"uri": "skill://served/word-count/../x"}));
        assert!(unlisted["error"].is_object(), "{unlisted}");
        assert_eq!(session.ask("resources/list", json!({}))["result"]["resources"][0]["uri"], URI);
    }
}
