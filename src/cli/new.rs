//! `skillcell new`: a folder with a small skill that passes its own tests.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::SettingArgs;
use super::printer::Printer;
use skillcell_quote::shell_word;

/// Write a new skill to a folder: code, manifest, instructions and a test that passes
///
/// It greets someone, and is laid out as Skillware wants a skill to be. The folder must not exist, or be empty. The skill is
/// named after it; in `skills/<category>/<name>` it gets the id `<category>/<name>`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell new ./my_skill
  skillcell new skills/office/mail_sorter
  skillcell new ./my_skill && skillcell test ./my_skill")]
pub struct NewCommand {
    /// The folder to make
    folder: PathBuf,
}

/// What is written: `{{class}}` and `{{id}}` are filled in.
const FILES: [(&str, &str); 5] = [
    ("skill.py", include_str!("new/skill.py")),
    ("manifest.yaml", include_str!("new/manifest.yaml")),
    ("instructions.md", include_str!("new/instructions.md")),
    ("test_skill.py", include_str!("new/test_skill.py")),
    ("__init__.py", include_str!("new/__init__.py")),
];
/// Names that the generated class can't have: Python keywords, and what `skill.py` imports.
const RESERVED_NAMES: [&str; 4] = ["None", "True", "False", "BaseSkill"];

impl NewCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let names = Names::from_folder(&self.folder)?;
        make_folder(&self.folder)?;
        for (file, template) in FILES {
            let path = self.folder.join(file);
            let text = template.replace("{{class}}", &names.class).replace("{{id}}", &names.id);
            // `create_new` never overwrites a file that appeared since the folder was checked.
            let made = fs::OpenOptions::new().write(true).create_new(true).open(&path);
            let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
            written.with_context(|| format!("can't write `{}`", path.display()))?;
        }
        if !args.quiet {
            let folder = shell_word(&as_typed(&self.folder));
            printer.print_note(&format!("wrote the skill `{}` to {folder}; now:", names.id));
            for command in ["test", "run", "inspect"] {
                printer.print_note(&format!("  skillcell {command} {folder}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The folder as an argument; a leading `./` keeps it from being taken for an id or a flag.
fn as_typed(folder: &Path) -> String {
    let is_plain = folder.is_relative() && !folder.starts_with(".") && !folder.starts_with("..");
    format!("{}{}", if is_plain { "./" } else { "" }, folder.display())
}

fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    fs::create_dir_all(folder).or_else(|error| match error.kind() {
        ErrorKind::AlreadyExists => bail!("`{shown}` is there already, and is no folder"),
        _ => Err(error).with_context(|| format!("can't make the folder `{shown}`")),
    })?;
    let mut entries = fs::read_dir(folder).with_context(|| format!("can't read the folder `{shown}`"))?;
    match entries.next() {
        Some(_) => bail!("the folder `{shown}` is not empty: a new skill needs one of its own"),
        None => Ok(()),
    }
}

/// What the skill is called.
#[derive(Debug, PartialEq, Eq)]
struct Names {
    /// In the manifest.
    id: String,
    class: String,
}

impl Names {
    fn from_folder(folder: &Path) -> anyhow::Result<Names> {
        let full = std::path::absolute(folder).with_context(|| format!("`{}` is no folder", folder.display()))?;
        let mut parts = full.iter().rev().map(|part| part.to_string_lossy());
        let (own, category, root) = (parts.next(), parts.next(), parts.next());
        // `absolute` keeps `..`, and the root has no name.
        let own = own.filter(|own| *own != ".." && full.parent().is_some());
        let Some(own) = own else { bail!("`{}` is no name for a skill", folder.display()) };
        let name = snake_case(&own);
        let class = camel_case(&name);
        let id = match (category, root) {
            (Some(category), Some(root)) if root == "skills" => format!("{}/{name}", snake_case(&category)),
            _ => name,
        };
        Ok(Names { id, class })
    }
}

/// The ASCII letters and digits of a text in snake case; `skill` if there are none.
fn snake_case(text: &str) -> String {
    let (mut made, mut before) = (String::new(), ' ');
    for c in text.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            made.push('_');
        }
        made.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        before = c;
    }
    let words: Vec<&str> = made.split('_').filter(|word| !word.is_empty()).collect();
    let name: String = words.join("_").chars().take(64).collect();
    match name.chars().next() {
        None => "skill".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("skill_{name}"),
        Some(_) => name,
    }
}

fn camel_case(name: &str) -> String {
    let word = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let class: String = name.split('_').filter(|part| !part.is_empty()).map(word).collect();
    if RESERVED_NAMES.contains(&class.as_str()) { format!("My{class}") } else { class }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_for(folder: &str) -> (String, String) {
        let Names { id, class } = Names::from_folder(Path::new(folder)).unwrap();
        (id, class)
    }

    #[test]
    fn any_folder_gives_names_that_python_and_yaml_take() {
        let expected = [
            ("my_skill", "my_skill", "MySkill"),
            ("/a/My Skill-2.0!", "my_skill_2_0", "MySkill20"),
            ("MailSorter", "mail_sorter", "MailSorter"),
            ("/x/123", "skill_123", "Skill123"),
            ("/x/été", "t", "T"),
            ("/x/日本", "skill", "Skill"),
            ("/x/none", "none", "MyNone"),
            ("/x/base_skill", "base_skill", "MyBaseSkill"),
            ("/x/class", "class", "Class"),
            ("/x/a\"\n{{id}}", "a_id", "AId"),
            ("/r/skills/office/mail", "office/mail", "Mail"),
            ("/r/skills/Of fice/mail/", "of_fice/mail", "Mail"),
        ];
        for (folder, id, class) in expected {
            assert_eq!(names_for(folder), (id.to_owned(), class.to_owned()), "{folder}");
        }
        let long = names_for(&format!("/x/{}", "ab".repeat(200)));
        assert!(long.0.len() <= 64);
        assert!(Names::from_folder(Path::new("/")).is_err() && Names::from_folder(Path::new("..")).is_err());
    }
}
