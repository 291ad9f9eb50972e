//! The reader of OpenTofu's language beside OpenTofu itself, on configurations made for it: what
//! tofu accepts is never refused, and what infra finds in it is what tofu finds.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "hcl_conformance/generator.rs"]
mod generator;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use generator::Generator;
use infra::model::Stack;
use infra::project::load;
use infra::stacks::discover;
use infra::syntax::Setting;
use serde_json::Value;
use support::{Project, tofu};

/// How many files each corpus has.
const FILES: usize = 300;

/// Returns the bare tofu, told nothing by anybody.
fn bare_tofu(args: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(tofu());
    command.args(args).current_dir(dir).env("TF_CLI_CONFIG_FILE", "/dev/null");
    command.output().expect("tofu starts")
}

/// Returns what tofu finds in a folder, or what it says against it.
fn as_tofu_reads(dir: &Path) -> Result<Value, String> {
    let output = bare_tofu(&["show", "-json", "-module=."], dir);
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()),
    }
}

/// Takes away the files that tofu refuses, and returns what it finds in the others.
fn accepted_by_tofu(dir: &Path) -> Value {
    for _ in 0..5 {
        let refusal = match as_tofu_reads(dir) {
            Ok(found) => return found,
            Err(refusal) => refusal,
        };
        let named: BTreeSet<&str> = refusal
            .split([' ', '\n', ','])
            .map(|word| word.rsplit('/').next().unwrap_or(word))
            .filter(|word| word.starts_with('f') && dir.join(word).is_file())
            .collect();
        assert!(!named.is_empty(), "{refusal}");
        named.iter().for_each(|name| std::fs::remove_file(dir.join(name)).unwrap());
    }
    panic!("tofu refuses again and again")
}

/// Writes a corpus, leaves what tofu accepts, and compares both readings; returns how many files that were.
fn compare(files: impl Iterator<Item = (String, Vec<u8>)>) -> usize {
    let project = Project::new();
    let dir = project.path("infrastructure/corpus");
    std::fs::create_dir_all(&dir).unwrap();
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
    let theirs = accepted_by_tofu(&dir);
    let found = discover(&load(project.root()).unwrap()).unwrap();
    let ours = found.stacks.into_iter().find(|stack| stack.id.as_str() == "corpus").unwrap();

    assert_eq!((&ours.unread, &ours.problems), (&vec![], &vec![]));
    let names = |key: &str| names_in(&theirs["root_module"][key]);
    assert_eq!(ours.variables, names("variables"));
    assert_eq!(ours.outputs, names("outputs"));
    assert_eq!(ours.addresses, addresses(&theirs));
    assert_eq!(module_sources(&ours), their_sources(&theirs));
    std::fs::read_dir(&dir).unwrap().count()
}

fn names_in(object: &Value) -> BTreeSet<String> {
    object.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect()
}

/// Returns the resources of the state-to-be, and the calls of modules that are not there.
fn addresses(theirs: &Value) -> BTreeSet<String> {
    let resources = theirs["root_module"]["resources"].as_array().into_iter().flatten();
    let resources = resources.filter(|resource| resource["mode"] == "managed");
    let modules = names_in(&theirs["root_module"]["module_calls"]);
    resources
        .map(|resource| resource["address"].as_str().unwrap().to_owned())
        .chain(modules.into_iter().map(|name| format!("module.{name}.*")))
        .collect()
}

fn module_sources(stack: &Stack) -> BTreeMap<String, String> {
    let line = |line: &String| {
        let (name, rest) = line.split_once(": module ")?.1.split_once(" source=")?;
        Some((name.to_owned(), rest.strip_suffix(" version=")?.to_owned()))
    };
    stack.init_facts.iter().filter_map(line).collect()
}

fn their_sources(theirs: &Value) -> BTreeMap<String, String> {
    let calls = theirs["root_module"]["module_calls"].as_object().into_iter().flatten();
    calls.map(|(name, call)| (name.clone(), format!("{:?}", call["source"].as_str().unwrap()))).collect()
}

#[test]
fn what_is_found_in_odd_configurations_is_what_tofu_finds() {
    let mut generator = Generator::new(13);
    let files = (0..FILES).map(|number| match number % 6 {
        0 => (format!("f{number}.tf.json"), generator.json(number)),
        _ => (format!("f{number}.tf"), generator.native(number)),
    });

    let accepted = compare(files);

    assert!(accepted > FILES * 9 / 10, "tofu accepts only {accepted} of {FILES}");
}

#[test]
fn the_state_is_where_tofu_puts_it_however_that_is_written() {
    let written: [(&str, &[u8]); 10] = [
        ("a.tf", b"terraform {\n  backend \"local\" { path = \"a.tfstate\" }\n}"),
        ("a.tf", b"terraform {\n  backend local {\n    path = (\n\"b\\u002etfstate\" # }\n )\n  }\n}\n"),
        ("a.tf", b"# \xe9\nlocals { x = { a = 1, a = 2 } }\nterraform{\nbackend/**/\"local\"{\npath=\"c.tfstate\"\n}\n}"),
        ("a.tf", b"\xef\xbb\xbfterraform {\r\n  backend \"local\" {\r\n    path = \"d\"\r\n  }\r\n}\r\n"),
        ("a.tf", b"locals {\n  x = <<EOT\nterraform {\n  backend \"s3\" {}\n}\nEOT\n}\n"),
        ("a.tf.json", b"{\"terraform\": {}, \"terraform\": [{\"backend\": {\"local\": {\"path\": \"e\"}}}]}"),
        ("a.tf.json", b"{\"terraform\": {\"backend\": [{\"local\": [{\"path\": \"\\u0066\", \"//\": 1}]}]}}"),
        ("a_override.tf", b"terraform {\n  backend \"local\" {\n    path = \"g\"\n  }\n}\n"),
        ("a.tofu", b"terraform {\n  backend \"local\" {\n    path = \"$${h}\"\n  }\n}\n"),
        ("a.tf", b"/* terraform {\n backend \"s3\" {}\n} */\nterraform {\n  backend \"local\" {}\n}\n"),
    ];
    let project = Project::new();
    for (number, (name, bytes)) in written.iter().enumerate() {
        project.write(&format!("infrastructure/s{number}/{name}"), "");
        std::fs::write(project.path(&format!("infrastructure/s{number}/{name}")), bytes).unwrap();
    }

    let found = discover(&load(project.root()).unwrap()).unwrap();

    for stack in found.stacks {
        assert_eq!((&stack.unread, &stack.problems), (&vec![], &vec![]));
        let dir = project.root().join(&stack.path);
        let init = bare_tofu(&["init"], &dir);
        assert!(init.status.success(), "{stack:?}: {}", String::from_utf8_lossy(&init.stderr));
        assert_eq!(
            infra::stacks::identity(&stack.backend, &stack.path, None),
            Some(their_state(&dir, &stack.path))
        );
    }
}

/// Returns the identity of the state that tofu remembers to use in a folder.
fn their_state(dir: &Path, shown: &Path) -> String {
    let text = std::fs::read(dir.join(".terraform/terraform.tfstate")).unwrap_or_else(|_| b"{}".to_vec());
    let remembered: Value = serde_json::from_slice(&text).unwrap();
    let file = remembered["backend"]["config"]["path"].as_str().unwrap_or("terraform.tfstate");
    format!("local:{}", shown.join(file).display())
}

#[test]
fn providers_are_required_as_tofu_reads_them() {
    let text = "terraform {\n  required_providers {\n    one = { source = \"a/x\", version = \"1\", source = \"b/one\" }\n    \
                two = {\n      \"source\" : \"b/two\" # why\n      version = \">= 2.0\"\n    }\n    null = \"~> 3.0\"\n  }\n}\n";
    let project = Project::new().stack("a", text);

    let theirs = as_tofu_reads(&project.path("infrastructure/a")).unwrap();
    let stack = discover(&load(project.root()).unwrap()).unwrap().stacks.remove(0);

    let ours: Vec<&str> = stack.init_facts.iter().map(|line| line.split_once(": ").unwrap().1).collect();
    assert_eq!(
        ours,
        [
            r#"provider null "~> 3.0""#,
            r#"provider one {source="b/one" version="1"}"#,
            r#"provider two {source="b/two" version=">= 2.0"}"#
        ]
    );
    let full_name = |name: &str| theirs["provider_config"][name]["full_name"].as_str().unwrap().to_owned();
    assert!(full_name("one").ends_with("/b/one") && full_name("two").ends_with("/b/two"), "{theirs}");
}

#[test]
fn a_value_of_a_variables_file_says_to_infra_what_it_says_to_tofu() {
    let written = [
        r#""plain""#,
        r#""q\"\\\n\t\r\u00e9\U0001F600 $${x} %%{y} $$ %""#,
        "<<EOT\none\n  two \\n \"q\" $${x}\nEOT",
        "<<EOT\nEOT",
        "<<EOT\n\n  EOT",
        "<<-EOT\n    a\n\n      b\n  \n    EOT",
        "<<-EOT\n\ta\n  b\n  EOT",
        "<<-EOT\n    ${\"x\"}\n  EOT",
        "<<EOT\r\nwindows\r\nEOT",
        "(\n  \"in brackets\" # why\n)",
        "[1, \"a\"]",
        "{ a = 1, a = \"again\" }",
        "true ? \"a\" : \"b\"",
        "-12.50",
        "12.5",
        "true",
    ];
    let values: String = written.iter().enumerate().map(|(at, text)| format!("v{at} = {text}\n")).collect();
    let files: String = (0..written.len())
        .map(|at| format!("variable \"v{at}\" {{}}\noutput \"v{at}\" {{\n  value = var.v{at}\n}}\n"))
        .collect();
    let project = Project::new().stack("a", &files).file("infrastructure/a/terraform.tfvars", &values);
    let dir = project.path("infrastructure/a");

    let applied = bare_tofu(&["apply", "-auto-approve"], &dir);
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    let theirs: Value =
        serde_json::from_slice(&bare_tofu(&["output", "-json"], &dir).stdout).expect("what tofu says");

    let document = infra::syntax::read(&values);
    assert_eq!(document.fault, None);
    let mut known = 0;
    for attribute in &document.body.attributes {
        let their = &theirs[attribute.name]["value"];
        let Some(Setting::Literal(ours)) = infra::syntax::value(&values, &attribute.value) else { continue };
        assert_eq!(their.as_str().map_or_else(|| their.to_string(), str::to_owned), ours, "{attribute:?}");
        known += 1;
    }
    assert_eq!(known, 11, "what is written down is known");
}

#[test]
fn nothing_that_tofu_accepts_by_chance_is_refused() {
    let mut generator = Generator::new(31);
    let files = (0..FILES).map(|number| match number % 6 {
        0 => (format!("f{number}.tf.json"), generator.json(number)),
        _ => (format!("f{number}.tf"), generator.native(number)),
    });
    let files: Vec<(String, Vec<u8>)> = files.collect();
    let damaged = files.into_iter().map(|(name, bytes)| (name, generator.damaged(bytes)));

    let accepted = compare(damaged);

    assert!(accepted > FILES / 10, "tofu accepts only {accepted} of {FILES}");
}
