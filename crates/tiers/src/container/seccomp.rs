//! The seccomp profile of a container, in the JSON format of engines: refuses what `sandbox/seccomp.rs` refuses in a process,
//! and namespaces, on top of what the engine refuses by default. Podman's default is an allow list, from which calls are
//! removed; if an engine does not report its default, the profile is a deny list.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::seccomp::{CREATE_FLAGS, DENIED, NAMESPACES, SET_ID, SOCKET_FAMILIES};

const ALLOW: &str = "SCMP_ACT_ALLOW";
const ERRNO: &str = "SCMP_ACT_ERRNO";
const SET_ID_BITS: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];
/// What engines refuse by default besides, as far as it matters for a container without capabilities.
const OBSOLETE: [&str; 8] =
    ["iopl", "ioperm", "modify_ldt", "uselib", "ustat", "sysfs", "personality", "get_kernel_syms"];

/// The profile, based on the engine's default if that can be read.
pub fn build_profile(of_engine: Option<&Path>) -> Value {
    let text = of_engine.and_then(|path| std::fs::read(path).ok());
    let own = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    own.and_then(narrow_allow_list).unwrap_or_else(deny_list)
}

/// Removes what is refused from an allow list. `None` if it is not an allow list.
fn narrow_allow_list(mut own: Value) -> Option<Value> {
    if own["defaultAction"] != ERRNO {
        return None;
    }
    let removed: Vec<&str> = denied_names().chain(conditional_names()).collect();
    let rules = own["syscalls"].as_array_mut()?;
    for rule in &mut *rules {
        rule["names"].as_array_mut()?.retain(|name| name.as_str().is_some_and(|name| !removed.contains(&name)));
    }
    rules.retain(|rule| rule["names"].as_array().is_some_and(|names| !names.is_empty()));
    for ((name, _), mode, flags) in SET_ID {
        rules.push(rule(name, ALLOW, &[arg_lacks_bits(*mode, SET_ID_BITS.iter().sum::<u32>().into())]));
        if let Some(flags) = flags {
            rules.push(rule(name, ALLOW, &[arg_lacks_bits(*flags, flag_bits(&CREATE_FLAGS))]));
        }
    }
    rules.push(rule("SYS_clone", ALLOW, &[arg_lacks_bits(0, flag_bits(&NAMESPACES))]));
    rules.extend(SOCKET_FAMILIES.map(|family| rule("SYS_socket", ALLOW, &[arg_equals(0, family.into())])));
    let other = json!({"index": 0, "value": libc::PR_SET_DUMPABLE, "valueTwo": 0, "op": "SCMP_CMP_NE"});
    rules.push(rule("SYS_prctl", ALLOW, &[other]));
    rules.extend(deny_rules());
    Some(own)
}

/// A profile that allows everything but what is refused.
fn deny_list() -> Value {
    let mut rules = deny_rules();
    let others = (0..libc::AF_NETLINK).filter(|family| !SOCKET_FAMILIES.contains(family));
    rules.extend(others.map(|family| rule("SYS_socket", ERRNO, &[arg_equals(0, family.into())])));
    let higher = json!({"index": 0, "value": libc::AF_NETLINK, "valueTwo": 0, "op": "SCMP_CMP_GT"});
    rules.push(rule("SYS_socket", ERRNO, &[higher]));
    rules.push(json!({"names": OBSOLETE, "action": ERRNO, "errnoRet": libc::EPERM}));
    // Without `architectures` it applies to the native one; calls of any other ABI kill the process.
    json!({"defaultAction": ALLOW, "syscalls": rules})
}

/// Explicit refusals, for both kinds of profile: a call that is merely missing from an allow list may fail with `ENOSYS`
/// instead of `EPERM`.
fn deny_rules() -> Vec<Value> {
    let denied: Vec<&str> = denied_names().collect();
    let mut rules = vec![json!({"names": denied, "action": ERRNO, "errnoRet": libc::EPERM})];
    for ((name, _), mode, flags) in SET_ID {
        for bit in SET_ID_BITS {
            match flags {
                None => rules.push(rule(name, ERRNO, &[arg_has_bits(*mode, bit.into())])),
                Some(flags) => rules.extend(CREATE_FLAGS.map(|making| {
                    rule(name, ERRNO, &[arg_has_bits(*mode, bit.into()), arg_has_bits(*flags, flag_bits(&[making]))])
                })),
            }
        }
    }
    rules.extend(NAMESPACES.map(|kind| rule("SYS_clone", ERRNO, &[arg_has_bits(0, flag_bits(&[kind]))])));
    // A process that is not dumpable hides its `/proc` files, by which its scratch files are counted.
    rules.push(rule("SYS_prctl", ERRNO, &[arg_equals(0, libc::PR_SET_DUMPABLE.into())]));
    // Its flags are behind a pointer, which seccomp can't follow. On ENOSYS the C library falls back to `clone`.
    rules.push(json!({"names": ["clone3"], "action": ERRNO, "errnoRet": libc::ENOSYS}));
    rules
}

fn denied_names() -> impl Iterator<Item = &'static str> {
    DENIED.iter().map(|(name, _)| call_name(name))
}

/// Calls that are refused depending on their arguments.
fn conditional_names() -> impl Iterator<Item = &'static str> {
    SET_ID.iter().map(|((name, _), ..)| call_name(name)).chain(["clone", "clone3", "socket", "prctl"])
}

fn call_name(name: &'static str) -> &'static str {
    name.strip_prefix("SYS_").unwrap_or(name)
}

fn rule(name: &'static str, action: &str, conditions: &[Value]) -> Value {
    let mut rule = json!({"names": [call_name(name)], "action": action, "args": conditions});
    if action == ERRNO {
        rule["errnoRet"] = libc::EPERM.into();
    }
    rule
}

fn flag_bits(flags: &[i32]) -> u64 {
    flags.iter().fold(0, |all, flag| all | u64::try_from(*flag).unwrap_or_default())
}

fn arg_equals(argument: u8, value: i64) -> Value {
    json!({"index": argument, "value": value, "valueTwo": 0, "op": "SCMP_CMP_EQ"})
}

/// Matches an argument that has none of these bits.
fn arg_lacks_bits(argument: u8, bits: u64) -> Value {
    json!({"index": argument, "value": bits, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"})
}

/// Matches an argument that has all of these bits.
fn arg_has_bits(argument: u8, bits: u64) -> Value {
    json!({"index": argument, "value": bits, "valueTwo": bits, "op": "SCMP_CMP_MASKED_EQ"})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(profile: &Value, name: &str) -> bool {
        let rules = profile["syscalls"].as_array().unwrap();
        rules.iter().any(|rule| rule["action"] == ALLOW && rule["names"].as_array().unwrap().contains(&json!(name)))
    }

    #[test]
    fn what_a_process_is_refused_is_taken_out_of_what_an_engine_allows() {
        let own = json!({"defaultAction": ERRNO, "archMap": [], "syscalls": [
            {"names": ["read", "chmod", "symlinkat", "clone", "mount"], "action": ALLOW},
            {"names": ["ptrace"], "action": ALLOW},
        ]});
        let narrowed = narrow_allow_list(own).unwrap();
        assert!(allows(&narrowed, "read"));
        assert!(["symlinkat", "mount", "ptrace"].iter().all(|name| !allows(&narrowed, name)), "{narrowed}");
        let rules = narrowed["syscalls"].as_array().unwrap();
        let of = |name: &'static str| rules.iter().filter(move |rule| rule["names"] == json!([name]));
        assert!(of("clone").count() == 8 && of("clone").all(|rule| rule["args"][0]["op"] == "SCMP_CMP_MASKED_EQ"));
        assert!(of("chmod").any(|rule| rule["action"] == ALLOW && rule["args"][0]["value"] == 0o6000));
    }

    #[test]
    fn a_list_of_another_kind_is_not_taken() {
        for own in [json!({"defaultAction": ALLOW, "syscalls": []}), json!([]), json!({"defaultAction": ERRNO})] {
            assert_eq!(narrow_allow_list(own.clone()), None, "{own}");
        }
        assert_eq!(build_profile(Some(Path::new("/nowhere")))["defaultAction"], ALLOW);
    }
}
