//! The promise of sessions: one cell from call to call for who asks for it, seen by nobody else, gone for good once it
//! ended, and each call in it as bounded and as watched as any.

use std::time::Duration;

use crate::common::server::{Server, answer};
use crate::common::{HOST, call, fixture, raised, returned, tests};
use serde_json::{Value, json};
use skillcell::{
    AuditLog, Call, CancelToken, Choice, DenialKind, GrantKind, Host, LimitKind, Outcome, Report, Roots, Session,
    SessionEnd, SessionLimits, Tier,
};

fn new_session() -> Session {
    Session::new(SessionLimits::default())
}

fn call_in(session: &Session, params: Value) -> Call {
    let mut call = Call::new(params);
    call.session = Some(session.clone());
    call
}

/// One call of the keeper in a session.
fn keep(session: &Session, params: Value) -> Report {
    call(&fixture("sessions/keeper"), &call_in(session, params))
}

fn tell(session: &Session) -> Result<Value, String> {
    returned(keep(session, json!({})))
}

/// What `tell` gives in the `count`th call that tells.
fn told(count: u32) -> Result<Value, String> {
    Ok(json!({"count": count, "module": count, "file": count, "config": null}))
}

/// The refusal of a call because of its session.
fn refusal(report: &Report) -> &str {
    assert!(matches!(report.outcome, Outcome::Refused), "{:?}", report.outcome);
    assert_eq!(report.denials.len(), 1, "{:?}", report.denials);
    assert_eq!(report.denials[0].kind, DenialKind::Session);
    assert!(report.denials[0].hint.is_some());
    &report.denials[0].message
}

/// The session ended so: every call with it is refused and says why, and calls without it are made as ever.
fn assert_ended(session: &Session, end: SessionEnd) {
    assert_eq!(session.ended(), Some(end));
    for _ in 0..2 {
        let report = keep(session, json!({}));
        assert_eq!(refusal(&report), format!("the session has ended: {end}"));
    }
    assert_eq!(returned(call(&fixture("sessions/keeper"), &Call::new(json!({})))), told(1), "a fresh call");
    assert_eq!(tell(&new_session()), told(1), "another session");
}

#[test]
fn state_stays_in_its_session_and_nobody_else_sees_it() {
    let [one, two] = [new_session(), new_session()];
    for count in 1..=3 {
        assert_eq!(tell(&one), told(count));
        assert_eq!(returned(call(&fixture("sessions/keeper"), &Call::new(json!({})))), told(1), "fresh is the default");
    }
    assert_eq!(tell(&two), told(1));
    assert_eq!(tell(&one.clone()), told(4), "a clone is the same session");
}

#[test]
fn a_skill_of_the_registry_that_remembers_on_its_instance_does_so_in_a_session() {
    let skill = HOST.skill("monitoring/token_limiter").expect("it is in the registry");
    let params = json!({
        "action": "check", "task_id": "a", "turn_id": "1", "current_token_count": 10, "max_allowed_tokens": 1000
    });
    let from_memory = |call: &Call| {
        let result = returned(HOST.call(&skill, call).expect("the host works")).expect("it gives a result");
        result["metadata"]["cache_hit"].clone()
    };
    let in_session = call_in(&new_session(), params.clone());
    assert_eq!([from_memory(&in_session), from_memory(&in_session)], [json!(false), json!(true)]);
    assert_eq!(from_memory(&Call::new(params)), json!(false), "a fresh call");
}

#[test]
fn without_an_image_a_session_keeps_its_cell_too() {
    let session = new_session();
    let skill = fixture("sessions/keeper");
    for count in 1..=2 {
        let mut imported = call_in(&session, json!({}));
        imported.use_image = false;
        assert_eq!(returned(call(&skill, &imported)), told(count));
    }
}

#[test]
fn a_call_that_raises_leaves_its_session_as_it_is() {
    let session = new_session();
    assert_eq!(raised(keep(&session, json!({"way": "fail"}))).expect("raises").message, "on purpose");
    let wrong = raised(keep(&session, json!({"way": 3}))).expect("params that the schema refuses");
    assert!(wrong.kind.ends_with("SkillwareParamValidationError"), "{wrong:?}");
    assert_eq!(tell(&session).map(|told| told["count"].clone()), Ok(json!(2)));
}

#[test]
fn a_constructor_that_raises_is_tried_again() {
    let session = new_session();
    for _ in 0..2 {
        let mut refusing = call_in(&session, json!({}));
        refusing.env.insert("REFUSE".into(), "1".into());
        assert_eq!(raised(call(&fixture("sessions/keeper"), &refusing)).expect("raises").message, "not today");
    }
}

#[test]
fn output_is_each_calls_own() {
    let session = new_session();
    for text in ["one", "two"] {
        let report = keep(&session, json!({"way": "talk", "text": text}));
        let line = format!("{text}\n").into_bytes();
        assert_eq!((report.stdout, report.stderr), (line.clone(), line));
    }
}

#[test]
fn random_numbers_go_on_and_clocks_never_go_back() {
    let session = new_session();
    let ask = |way: &str| returned(keep(&session, json!({"way": way}))).expect("works");
    assert_ne!(ask("draw"), ask("draw"));
    ask("seed");
    let seeded = ask("draw");
    ask("seed");
    assert_eq!(ask("draw"), seeded, "a seed that the skill chose holds");
    let (before, after) = (ask("clock").as_u64(), ask("clock").as_u64());
    assert!(before < after, "{before:?}, then {after:?}");
}

#[test]
fn each_end_is_for_good_and_says_why() {
    type Way = (Value, fn(&mut Call), SessionEnd);
    let ways: [Way; 7] = [
        (json!({"way": "loop"}), |call| call.limits.deadline = Duration::from_millis(100), limit(LimitKind::Deadline)),
        (json!({"way": "sleep", "seconds": 600}), |call| call.limits.deadline = Duration::from_millis(100), {
            limit(LimitKind::Deadline)
        }),
        (json!({"way": "grow", "bytes": 1 << 30}), |_| {}, limit(LimitKind::Memory)),
        (json!({"way": "talk", "text": "x".repeat(99)}), |call| call.limits.stdout_bytes = 10, {
            limit(LimitKind::StdoutBytes)
        }),
        (json!({"way": "stats", "times": 500}), |call| call.limits.host_calls = 400, limit(LimitKind::HostCalls)),
        (json!({"way": "leave"}), |_| {}, SessionEnd::Crashed),
        (json!({"way": "abort"}), |_| {}, SessionEnd::Crashed),
    ];
    for (params, set, end) in ways {
        let session = new_session();
        assert_eq!(tell(&session), told(1));
        let mut last = call_in(&session, params.clone());
        set(&mut last);
        let report = call(&fixture("sessions/keeper"), &last);
        assert!(!matches!(report.outcome, Outcome::Returned(_) | Outcome::Refused), "{params}: {:?}", report.outcome);
        assert_ended(&session, end);
    }
}

fn limit(kind: LimitKind) -> SessionEnd {
    SessionEnd::Limit(kind)
}

#[test]
fn a_closed_session_and_one_past_its_bounds_take_no_more_calls() {
    let closed = new_session();
    assert_eq!(tell(&closed), told(1));
    closed.close();
    assert_ended(&closed, SessionEnd::Closed);
    let never_used = new_session();
    never_used.close();
    assert_ended(&never_used, SessionEnd::Closed);
    let (short, long) = (Duration::from_millis(20), Duration::from_secs(600));
    let idle = Session::new(SessionLimits::new(short, long));
    std::thread::sleep(short);
    assert_ended(&idle, SessionEnd::Idle);
    let old = Session::new(SessionLimits::new(long, short));
    std::thread::sleep(short);
    assert_ended(&old, SessionEnd::Lifetime);
    // With a cell, that it has to give back.
    let (within, while_calling) = (Duration::from_secs(3), Duration::from_millis(3010));
    let used = Session::new(SessionLimits::new(within, long));
    assert_eq!(tell(&used), told(1));
    std::thread::sleep(while_calling);
    assert_ended(&used, SessionEnd::Idle);
}

#[test]
fn a_cancelled_call_ends_its_session_and_one_that_was_cancelled_before_does_not() {
    let session = new_session();
    assert_eq!(tell(&session), told(1));
    let token = CancelToken::new();
    token.cancel();
    let mut late = call_in(&session, json!({}));
    late.cancel = token;
    assert!(matches!(call(&fixture("sessions/keeper"), &late).outcome, Outcome::Cancelled));
    assert_eq!(tell(&session), told(2), "nothing of it ran");
    let mut spent = call_in(&session, json!({}));
    spent.cancel = CancelToken::new();
    assert_eq!(returned(call(&fixture("sessions/keeper"), &spent)), told(3));
    spent.cancel.cancel();
    assert_eq!(tell(&session), told(4), "the token of a call that is over is nothing to the next");
    let mut cancelled = call_in(&session, json!({"way": "loop"}));
    cancelled.limits.deadline = Duration::from_secs(600);
    cancelled.cancel = CancelToken::new();
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| call(&fixture("sessions/keeper"), &cancelled).outcome);
        std::thread::sleep(Duration::from_millis(50));
        cancelled.cancel.cancel();
        running.join().expect("it ends")
    });
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    assert_ended(&session, SessionEnd::Cancelled);
}

/// A session with a call that is running in it, until it is told to end.
fn while_one_runs(session: &Session, check: impl FnOnce()) -> Outcome {
    let (skill, running) = (fixture("sessions/keeper"), CancelToken::new());
    let mut long = call_in(session, json!({"way": "sleep", "seconds": 600}));
    (long.limits.deadline, long.cancel) = (Duration::from_secs(600), running.clone());
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| call(&skill, &long).outcome);
        std::thread::sleep(Duration::from_millis(100));
        check();
        running.cancel();
        runs.join().expect("it ends")
    })
}

#[test]
fn of_two_calls_one_waits_within_its_deadline() {
    let session = new_session();
    assert_eq!(tell(&session), told(1));
    let skill = fixture("sessions/keeper");
    while_one_runs(&session, || {
        let mut waiting = call_in(&session, json!({}));
        waiting.limits.deadline = Duration::from_millis(20);
        assert!(matches!(call(&skill, &waiting).outcome, Outcome::Busy));
        waiting.limits.deadline = Duration::from_secs(600);
        waiting.cancel = CancelToken::new();
        let cancel = waiting.cancel.clone();
        let outcome = std::thread::scope(|scope| {
            let waits = scope.spawn(|| call(&skill, &waiting).outcome);
            std::thread::sleep(Duration::from_millis(20));
            cancel.cancel();
            waits.join().expect("it ends")
        });
        assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    });
    let shared = new_session();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| drop(tell(&shared).expect("each gets its turn"))));
        }
    });
    assert_eq!(tell(&shared), told(101));
}

#[test]
fn closing_lets_a_running_call_end_and_keeps_nothing_of_it() {
    let session = new_session();
    let skill = fixture("sessions/keeper");
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| call(&skill, &call_in(&session, json!({"way": "sleep", "seconds": 0.3}))));
        std::thread::sleep(Duration::from_millis(100));
        session.close();
        assert_eq!(session.ended(), Some(SessionEnd::Closed));
        assert_eq!(refusal(&keep(&session, json!({}))), "the session has ended: it was closed");
        running.join().expect("it ends")
    });
    assert!(matches!(report.outcome, Outcome::Returned(_) | Outcome::Refused), "{:?}", report.outcome);
    assert_ended(&session, SessionEnd::Closed);
}

#[test]
fn a_call_that_differs_from_the_first_is_refused_and_the_session_goes_on() {
    type Way = (fn(&mut Call, &str), &'static str);
    let folder = tempfile::tempdir().expect("a folder");
    let mount = format!("{}:/data", folder.path().display());
    let ways: [Way; 5] = [
        (|call, _| call.config = Some(json!({"a": 1})), "`config`"),
        (|call, _| drop(call.env.insert("A".into(), "b".into())), "environment"),
        (|call, mount| call.grants.add(GrantKind::Mount, mount).expect("a grant"), "set of grants that hold"),
        (|call, _| call.map_paths = true, "way with paths"),
        (|call, _| call.grants.deny_imports.push("json".into()), "set of grants that hold"),
    ];
    let session = new_session();
    assert_eq!(tell(&session), told(1));
    for (differ, what) in ways {
        let mut other = call_in(&session, json!({}));
        differ(&mut other, &mount);
        let report = call(&fixture("sessions/keeper"), &other);
        assert_eq!(refusal(&report), format!("the session was begun with another {what}"));
    }
    let report = call(&fixture("sessions/other"), &call_in(&session, json!({})));
    assert_eq!(refusal(&report), "the session was begun with another skill, or another version of it");
    let elsewhere = Host::builder().roots(Roots::new([])).build().expect("a host");
    let report = elsewhere.call(&fixture("sessions/keeper"), &call_in(&session, json!({}))).expect("the host works");
    assert_eq!(refusal(&report), "the session was begun with another host");
    assert_eq!(tell(&session), told(2));
}

#[test]
fn the_instance_has_the_config_of_its_first_call() {
    let session = new_session();
    for count in 1..=2 {
        let mut configured = call_in(&session, json!({}));
        configured.config = Some(json!({"a": 1}));
        let told = returned(call(&fixture("sessions/keeper"), &configured)).expect("works");
        assert_eq!((&told["count"], &told["config"]), (&json!(count), &json!({"a": 1})));
    }
}

#[test]
fn other_tiers_have_no_sessions() {
    for tier in [Tier::Container, Tier::Subprocess, Tier::InProcess] {
        let session = new_session();
        let mut outside = call_in(&session, json!({}));
        outside.tier = Choice::Tier(tier);
        outside.trust_remote_code = true;
        let report = call(&fixture("sessions/keeper"), &outside);
        assert!(matches!(report.outcome, Outcome::Refused), "{tier}: {:?}", report.outcome);
        let message = format!("a session is kept in a cell only, not in `{tier}`");
        assert_eq!(report.denials[0].message, message);
        assert_eq!(session.ended(), None);
    }
}

#[test]
fn memory_and_scratch_are_bounded_for_the_session_as_a_whole() {
    let session = new_session();
    let skill = fixture("sessions/keeper");
    let grow = |bytes: u64, memory: u64| {
        let mut growing = call_in(&session, json!({"way": "grow", "bytes": bytes}));
        growing.limits.memory_bytes = memory;
        call(&skill, &growing)
    };
    assert_eq!(returned(grow(30 << 20, 128 << 20)), Ok(json!(1)));
    // Less than it has by now: nothing runs, and the session goes on.
    let report = grow(1, 48 << 20);
    assert_eq!(report.outcome.limit(), Some(LimitKind::Memory), "{:?}", report.outcome);
    assert_eq!(returned(grow(1, 128 << 20)), Ok(json!(2)));
    // A later call can't widen what the first one set.
    let report = grow(90 << 20, 256 << 20);
    assert_eq!(report.outcome.limit(), Some(LimitKind::Memory), "{:?}", report.outcome);
    assert_ended(&session, SessionEnd::Limit(LimitKind::Memory));
    let full = new_session();
    let filled = |count: u32| {
        let mut telling = call_in(&full, json!({}));
        telling.limits.scratch_bytes = if count == 1 { 3 } else { 1000 };
        call(&skill, &telling)
    };
    assert!((1..=3).all(|count| returned(filled(count)).is_ok()));
    assert_eq!(filled(4).outcome.limit(), Some(LimitKind::ScratchBytes));
    assert_ended(&full, SessionEnd::Limit(LimitKind::ScratchBytes));
}

#[test]
fn host_calls_are_counted_for_each_call() {
    let session = new_session();
    for _ in 0..5 {
        let mut counting = call_in(&session, json!({"way": "stats", "times": 300}));
        counting.limits.host_calls = 400;
        let report = call(&fixture("sessions/keeper"), &counting);
        assert!(matches!(report.outcome, Outcome::Returned(_)), "{:?}", report.outcome);
        assert!((300..400).contains(&report.usage.host_calls), "{:?}", report.usage);
    }
}

#[test]
fn a_folders_files_are_closed_between_calls_and_each_call_is_audited() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.txt"), "abc").expect("written");
    let log = folder.path().with_extension("log");
    let session = new_session();
    let run = |way: &str| {
        let mut mounted = call_in(&session, json!({"way": way}));
        mounted.grants.add(GrantKind::Mount, &format!("{}:/data", folder.path().display())).expect("a grant");
        mounted.audit = AuditLog::new().to_file(&log).expect("an audit");
        returned(call(&fixture("sessions/keeper"), &mounted))
    };
    assert_eq!(run("hold_file"), Ok(json!("a")));
    assert_eq!(run("use_file"), Ok(json!([8, "abc"])), "8 is EBADF");
    let lines = std::fs::read_to_string(&log).expect("there is an audit");
    std::fs::remove_file(&log).expect("removed");
    let of_files = lines.lines().filter(|line| line.contains("\"asked\":\"open /data/a.txt\"")).count();
    let begun = lines.lines().filter(|line| line.contains("\"event\":\"begin\"")).count();
    assert_eq!((begun, of_files), (2, 2), "{lines}");
}

#[test]
fn a_placeholder_is_good_for_the_whole_session_and_for_no_other() {
    const VALUE: &str = "v4lue-of-the-key";
    let server = Server::start(None, |request| {
        Some(answer("200 OK", &[], format!("you sent {}", request.header("x-key").unwrap_or_default())))
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("key"), VALUE).expect("written");
    let ask = |session: &Session| {
        let mut asking = call_in(session, json!({"way": "ask"}));
        let mut add = |kind, text: &str| asking.grants.add(kind, text).expect("a grant");
        add(GrantKind::AllowHttp, "GET http://api.example.test/*");
        add(GrantKind::Resolve, &server.resolve("api.example.test"));
        let key = folder.path().join("key");
        add(GrantKind::Secret, &format!("API_KEY=file:{}@http://api.example.test", key.display()));
        let report = call(&fixture("sessions/keeper"), &asking);
        assert!(!format!("{report:?}").contains(VALUE), "{report:?}");
        returned(report).expect("answered")["key"].as_str().expect("a placeholder").to_owned()
    };
    let [one, two] = [new_session(), new_session()];
    let first = ask(&one);
    assert!(first.starts_with("skillcell_secret_API_KEY_"), "{first}");
    assert_eq!(ask(&one), first, "the instance holds on to it");
    assert_ne!(ask(&two), first);
    assert!(server.seen().iter().all(|request| request.header("x-key") == Some(VALUE)), "{:?}", server.seen());
}

#[test]
fn a_host_keeps_no_more_sessions_than_it_may_and_fresh_calls_are_made_all_the_same() {
    let host = Host::builder().roots(Roots::new([])).max_sessions(2).build().expect("a host");
    let skill = fixture("sessions/keeper");
    let tell = |session: &Session| host.call(&skill, &call_in(session, json!({}))).expect("the host works");
    let [one, two, three] = [new_session(), new_session(), new_session()];
    assert_eq!(returned(tell(&one)), told(1));
    assert_eq!(returned(tell(&two)), told(1));
    assert_eq!(refusal(&tell(&three)), "this host keeps 2 sessions at once, and has as many");
    assert_eq!(returned(host.call(&skill, &Call::new(json!({}))).expect("the host works")), told(1));
    assert_eq!(returned(tell(&one)), told(2), "those that it has go on");
    one.close();
    assert_eq!(returned(tell(&three)), told(1), "a place came free");
    drop(two);
    assert_eq!(returned(tell(&new_session())), told(1), "so it does when nobody holds a session any more");
}

#[test]
fn a_thousand_calls_in_one_session_take_no_more_of_its_memory() {
    let session = new_session();
    let skill = fixture("sessions/keeper");
    let peak = |calls: usize| {
        let peaks = (0..calls).map(|number| {
            let report = call(&skill, &call_in(&session, json!({"way": "draw", "pad": "x".repeat(number % 50)})));
            let peak = report.usage.memory_peak_bytes;
            assert!(returned(report).is_ok());
            peak
        });
        peaks.max()
    };
    let warm = peak(100);
    assert_eq!(peak(1000), warm);
}

#[test]
fn every_fixture_is_used() {
    let source = include_str!("sessions.rs");
    for folder in std::fs::read_dir(tests().join("skills/sessions")).expect("there are fixtures") {
        let name = folder.expect("readable").file_name().into_string().expect("plain names");
        assert!(source.contains(&format!("sessions/{name}")), "no test runs `{name}`");
    }
}
