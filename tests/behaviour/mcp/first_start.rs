//! A machine that never ran a skill: clients give up after ten seconds, and getting ready takes a minute.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Era, Session, program, skills, text_of};

/// Half of what the least patient client waits. It takes some milliseconds; getting ready takes more than this.
const BEFORE_CLIENTS_GIVE_UP: Duration = Duration::from_secs(5);

#[test]
fn with_an_empty_cache_it_answers_at_once_and_a_first_call_reports_progress() {
    let cache = tempfile::tempdir().unwrap();
    for era in [Era::Old, Era::New] {
        let started = Instant::now();
        let mut command = program();
        command.arg(skills()).arg("optimization/prompt_rewriter").arg("--cache-dir").arg(cache.path().join("cache"));
        let mut session = Session::of(era, &mut command);
        if era == Era::New {
            assert!(session.ask("server/discover", json!({}))["result"].is_object());
        }
        let list = session.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert!(started.elapsed() < BEFORE_CLIENTS_GIVE_UP, "it took {:?}", started.elapsed());
        // One of the registry is there by name; of the others the host has read what to show.
        assert_eq!(list.as_array().unwrap().len(), 5, "{list}");
        assert_eq!(
            (&list[1]["title"], &list[3]["name"]),
            (&json!("Echo chamber"), &json!("optimization_prompt_rewriter"))
        );
        let call = json!({"name": "echo", "arguments": {"value": 1}, "_meta": {"progressToken": 5}});
        session.begin("tools/call", call);
        for _ in 0..2 {
            let told = session.wait_for_note("notifications/progress")["params"].clone();
            assert_eq!((&told["progressToken"], told["message"].is_string()), (&json!(5), true), "{told}");
        }
        // Getting ready keeps nobody waiting.
        session.hang_up();
        assert_eq!(session.wait_for_end(), Some(0));
    }
}

#[test]
fn what_can_not_be_fetched_is_told_by_the_call() {
    let cache = tempfile::tempdir().unwrap();
    let mut command = program();
    command
        .arg(skills())
        .args(["optimization/prompt_rewriter", "--offline", "--cache-dir"])
        .arg(cache.path().join("cache"));
    let mut session = Session::of(Era::Old, &mut command);
    for tool in ["echo", "optimization_prompt_rewriter"] {
        let result = session.call(tool, json!({"value": 1}));
        assert_eq!(result["isError"], true, "{result}");
        assert!(text_of(&result).contains("can't be") || text_of(&result).contains("could not"), "{result}");
    }
}

#[test]
fn a_name_that_leads_nowhere_is_an_error_at_once() {
    for name in ["./nowhere", "no/such_skill_anywhere"] {
        let output = program().arg(name).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no skill"), "{output:?}");
    }
}
