//! The `skillcell` program. Everything it does is in the library's `cli`.

fn main() -> std::process::ExitCode {
    skillcell::cli::main()
}
