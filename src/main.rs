//! The `skillcell` program. Everything it does is in `cli`.

fn main() -> std::process::ExitCode {
    // A file that grows past `ulimit -f` is an error for who writes it, in a mounted folder the skill; not the end.
    // SAFETY: ignoring a signal installs no code, and nothing else runs yet.
    #[cfg(unix)]
    #[allow(unsafe_code, reason = "one call, before anything runs")]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    skillcell::cli::main()
}
