//! Sessions: handles that the server mints and that go in as arguments.

use serde_json::{Value, json};

use super::client::{Era, Session, program, text_of};

/// The argument as models see it.
const ARGUMENT: &str = "skillcell_session";

fn served(era: Era, flags: &[&str]) -> Session {
    let skills = ["keeper", "other"].map(|name| crate::common::tests().join("skills/sessions").join(name));
    Session::of(era, program().args(skills).args(flags))
}

fn count_of(result: &Value) -> &Value {
    &result["structuredContent"]["count"]
}

#[test]
fn a_model_opens_a_session_goes_on_in_it_and_closes_it() {
    for era in [Era::Old, Era::New] {
        let mut client = served(era, &["--sessions"]);
        let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<&str> = list.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["close_skill_session", "sessions_keeper", "sessions_other"], "{list}");
        assert_eq!(list[1]["inputSchema"]["properties"][ARGUMENT]["type"], "string", "{list}");

        let opened = client.call("sessions_keeper", json!({"way": "tell", ARGUMENT: "new"}));
        let handle = opened["_meta"]["skillcell/session"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
        assert_eq!((handle.len(), count_of(&opened)), (48, &json!(1)), "{opened}");
        let told = opened["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned();
        assert!(told.contains(&handle) && told.contains(ARGUMENT), "a model reads it: {told}");
        let next = client.call("sessions_keeper", json!({"way": "tell", ARGUMENT: handle}));
        assert_eq!(count_of(&next), 2, "{next}");
        // Others are fresh, and models that give nothing for it mean none.
        for nothing in [json!({}), json!({ARGUMENT: null}), json!({ARGUMENT: ""})] {
            assert_eq!(count_of(&client.call("sessions_keeper", nothing)), 1);
        }
        // A skill's failure ends no session.
        assert_eq!(client.call("sessions_keeper", json!({"way": "fail", ARGUMENT: handle}))["isError"], true);
        assert_eq!(count_of(&client.call("sessions_keeper", json!({ARGUMENT: handle}))), 4);

        for (tool, handle) in [("sessions_other", &*handle), ("sessions_keeper", "0000")] {
            let wrong = client.call(tool, json!({ARGUMENT: handle}));
            assert!(wrong["isError"] == true && text_of(&wrong).contains("no such session"), "{wrong}");
        }
        let odd = client.ask("tools/call", json!({"name": "sessions_keeper", "arguments": {ARGUMENT: 5}}));
        assert_eq!(odd["error"]["code"], -32602, "{odd}");
        assert_eq!(client.call("close_skill_session", json!({"session": handle}))["isError"], false);
        for (tool, argument) in [("close_skill_session", "session"), ("sessions_keeper", ARGUMENT)] {
            let gone = client.call(tool, json!({argument: handle}));
            assert!(gone["isError"] == true && text_of(&gone).contains("no such session"), "{gone}");
        }
    }
}

#[test]
fn a_program_names_a_session_beside_the_arguments_and_is_shown_no_more() {
    let mut client = served(Era::New, &[]);
    let list = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!list.contains(ARGUMENT) && !list.contains("close_skill_session"), "{list}");
    let unknown = client.ask("tools/call", json!({"name": "close_skill_session", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let mut call = |session: &str| {
        let asked = json!({"name": "sessions_keeper", "arguments": {}, "_meta": {"skillcell/session": session}});
        client.ask("tools/call", asked)["result"].clone()
    };
    let opened = call("new");
    let handle = opened["_meta"]["skillcell/session"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    assert_eq!(opened["content"].as_array().unwrap().len(), 1, "{opened}");
    assert_eq!(count_of(&call(&handle)), 2);
    // Eight at most, of one client.
    for _ in 0..7 {
        assert_eq!(count_of(&call("new")), 1);
    }
    let full = call("new");
    assert!(full["isError"] == true && text_of(&full).contains("close one first"), "{full}");
}

#[test]
fn what_ends_the_cell_ends_the_session_and_the_next_call_says_so() {
    let mut client = served(Era::Old, &["--sessions", "--timeout", "2"]);
    let opened = client.call("sessions_keeper", json!({"way": "loop", ARGUMENT: "new"}));
    let handle = opened["_meta"]["skillcell/session"].clone();
    assert_eq!(opened["_meta"]["skillcell/limit"], "deadline", "{opened}");
    let refused = client.call("sessions_keeper", json!({ARGUMENT: handle}));
    assert!(refused["isError"] == true && text_of(&refused).contains("the session has ended"), "{refused}");
}
