//! Reading data files: formats, merging, places, limits, and what makejinja reads otherwise.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/makejinja.rs"]
mod makejinja;

use std::path::Path;

use infra::error::{Error, Exit};
use infra::project::{Data, DataFile, load_data, load_derivations, sample_of};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Asks makejinja for the data of several folders; each answer is the data, or null if it failed.
const LOAD: &str = r#"
import json, sys
from pathlib import Path
from types import SimpleNamespace
from makejinja.app import load_data

def load(case):
    paths = [Path(case["root"]) / name for name in case["files"]]
    try:
        return load_data(SimpleNamespace(data=paths, data_vars={}, quiet=True))
    except Exception:
        return None

print(json.dumps([load(case) for case in json.load(sys.stdin)], default=str))
"#;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let root = tempfile::tempdir().expect("a temp folder");
    for (name, bytes) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    root
}

fn load(files: &[(&str, &[u8])]) -> Result<Data, Error> {
    let root = folder(files);
    let named: Vec<DataFile> = files.iter().map(|(name, _)| DataFile::required(name)).collect();
    load_data(root.path(), &named)
}

fn yaml(text: &str) -> Data {
    load(&[("cluster.yaml", text.as_bytes())]).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(name: &str, bytes: &[u8]) -> String {
    let error = load(&[(name, bytes)]).expect_err("a refusal");
    assert_eq!(error.exit(), Exit(65), "{error}");
    error.to_string()
}

#[test]
fn yaml_json_and_toml_say_the_same() {
    let yaml = load(&[("d.yaml", b"a: 1\nb: [x, 2.5, true, null]\nc: {d: \"e\"}\n")]).unwrap();
    let json = load(&[("d.json", br#"{"a": 1, "b": ["x", 2.5, true, null], "c": {"d": "e"}}"#)]).unwrap();
    let toml = load(&[("d.toml", b"a = 1\nb = [\"x\", 2.5, true]\n[c]\nd = \"e\"\n")]).unwrap();

    assert_eq!(
        Value::Object(yaml.values.clone()),
        json!({"a": 1, "b": ["x", 2.5, true, null], "c": {"d": "e"}})
    );
    assert_eq!(json.values, yaml.values);
    assert_eq!(toml.values["c"], yaml.values["c"]);
    assert_eq!(toml.values["b"], json!(["x", 2.5, true]));
}

#[test]
fn every_key_and_value_knows_its_place_in_each_format() {
    let yaml = yaml("a: 1\nb:\n  - x\n  - {c: 2}\n");
    let json = load(&[("d.json", b"{\"a\": 1,\n \"b\": [\"x\",\n  {\"c\": 2}]}")]).unwrap();
    let toml = load(&[("d.toml", b"a = 1\n[[b]]\nc = 2\n")]).unwrap();

    let place = |data: &Data, path: &[&str]| data.place_of(path).map(ToString::to_string);
    assert_eq!(place(&yaml, &["a"]).as_deref(), Some("cluster.yaml:1:4"));
    assert_eq!(place(&yaml, &["b", "1", "c"]).as_deref(), Some("cluster.yaml:4:9"));
    assert_eq!(place(&json, &["b", "1", "c"]).as_deref(), Some("d.json:3:9"));
    assert_eq!(place(&toml, &["b", "0", "c"]).as_deref(), Some("d.toml:3:5"));
    assert_eq!(place(&yaml, &["b", "2"]), None);
}

#[test]
fn data_merges_as_makejinja_merges_it() {
    let cases: Vec<Vec<(&str, &[u8])>> = vec![
        vec![("a.yaml", b"x: {p: 1, q: 2}\ny: 1\n"), ("b.yaml", b"z: 3\nx: {p: 9}\n")],
        vec![("a.yaml", b"---\nx: 1\ny: 2\n---\ny: 3\n...\n---\nw: [1]\n")],
        vec![("a.json", br#"{"x": 1, "n": null}"#), ("b.toml", b"x = 2\n[t]\nk = 1\n"), ("c.yml", b"x: 3\n")],
        vec![("d/b.yaml", b"x: b\nb: 1\n"), ("d/a.yaml", b"x: a\na: 1\n")],
        vec![(
            "a.yaml",
            b"base: &b {k: 1, l: 2}\nm: {l: 3, <<: *b}\nn: {<<: [*b, {k: 5, z: 6}], y: 1}\ns: *b\n",
        )],
        vec![("a.yaml", b"# only a comment\n"), ("b.yaml", b""), ("c.yaml", b"x: 1\n")],
        vec![("a.yaml", "\u{feff}x: 1\r\ny: \"ü\"\r\n".as_bytes())],
        vec![("a.yaml", b"l: |\n  two\n  lines\nf: >-\n  one\n  line\nq: 'it''s'\nd: \"a\\tb\"\ne:\n")],
        vec![("a.toml", b"z = 1\na = 2\nd = 1979-05-27\n[m.n]\no = 1.5\n")],
    ];
    let roots: Vec<TempDir> = cases.iter().map(|files| folder(files)).collect();
    let names =
        |files: &[(&str, &[u8])]| files.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let questions: Vec<Value> = cases
        .iter()
        .zip(&roots)
        .map(|(files, root)| json!({"root": root.path(), "files": names(files)}))
        .collect();

    let answers = makejinja::ask(LOAD, &json!(questions));

    for ((files, root), answer) in cases.iter().zip(&roots).zip(answers.as_array().unwrap()) {
        let files: Vec<DataFile> = names(files).into_iter().map(DataFile::required).collect();
        let data = load_data(root.path(), &files).unwrap();
        // Compared as texts, for the order of keys counts as well.
        assert_eq!(Value::Object(data.values).to_string(), answer.to_string());
        assert_eq!(data.warnings, []);
    }
}

#[test]
fn a_folder_stands_for_its_data_files_as_in_makejinja() {
    let root = folder(&[
        ("data/b.yaml", b"x: b\n"),
        ("data/a/z.yaml", b"x: az\nz: 1\n"),
        ("data/a.json", b"{\"x\": \"a\"}"),
        ("data/.hidden.yaml", b"x: hidden\n"),
        ("data/notes.txt", b"x: notes\n"),
    ]);

    let data = load_data(root.path(), &[DataFile::required("data")]).unwrap();
    let answer = makejinja::ask(LOAD, &json!([{"root": root.path(), "files": ["data"]}]));

    assert_eq!(Value::Object(data.values), answer[0]);
    assert_eq!(answer[0], json!({"x": "b", "z": 1}));
}

#[test]
fn what_makejinja_reads_otherwise_is_warned_about_and_nothing_else_is() {
    let words = [
        "yes",
        "No",
        "on",
        "OFF",
        "010",
        "-010",
        "0o17",
        "1_000",
        "1e3",
        "1.5e3",
        "-.5",
        "52:54:00:12:34:56",
        "12:30",
        "12:30:45.5",
        "2024-01-01",
        "2024-01-01 10:00:00",
        "0b11",
        "-0x1F",
        "08",
        "019",
        ".inf",
        ".NaN",
        "1__0",
        "0_",
        "1_0.5",
        "+.5",
        "0o8",
        "12345678901234567890123",
        "y",
        "true",
        "1.5",
        "+1",
        "0x1F",
        "1.",
        "00",
        "007",
        "-0",
        "~",
        "Null",
        "nULL",
        "1:60",
        "1,000",
        "_1",
        "text",
        "1.5e+3",
        "52:54:00:ab:cd:ef",
        "1.2.3",
        "v1",
        ".5",
        "0.",
        "5-5-5",
        "2024-1-1",
        "1e400",
        "0x",
        "a b",
        "1.12.0",
        "10.0.0.0/8",
    ];
    let files: Vec<(String, Vec<u8>)> = words
        .iter()
        .enumerate()
        .map(|(index, word)| (format!("{index}.yaml"), format!("k: {word}\n").into_bytes()))
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let root = folder(&files);
    let questions: Vec<Value> =
        files.iter().map(|(name, _)| json!({"root": root.path(), "files": [name]})).collect();

    // A text form that tells numbers, texts and points in time apart.
    let program = LOAD
        .replace("return load_data(", "return repr_of(load_data(")
        .replace("quiet=True))", "quiet=True)))");
    let program = format!("def repr_of(data):\n    return repr(data['k'])\n{program}");
    let answers = makejinja::ask(&program, &json!(questions));

    for ((name, bytes), answer) in files.iter().zip(answers.as_array().unwrap()) {
        let data = load_data(root.path(), &[DataFile::required(name)]).unwrap();
        let same = answer.as_str() == Some(python_repr(&data.values["k"]).as_str());
        let line = String::from_utf8_lossy(bytes);
        assert_eq!(data.warnings.is_empty(), same, "{line} {:?} {answer}", data.warnings);
    }
}

/// Returns a value as Python would show it.
fn python_repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

#[test]
fn a_warning_names_file_line_and_both_readings() {
    let data = yaml("nodes:\n  - mac: 52:54:00:12:34:56\nyes: \"yes\"\n");

    let warnings: Vec<String> = data.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(data.values["nodes"][0]["mac"], "52:54:00:12:34:56");
    assert!(warnings[0].starts_with("cluster.yaml:2:10: `52:54:00:12:34:56` is a text here"), "{warnings:?}");
    assert!(warnings[1].starts_with("cluster.yaml:3:1: the key `yes` is a text here"), "{warnings:?}");
    assert_eq!(warnings.len(), 2);
}

#[test]
fn a_warning_never_shows_what_sounds_secret() {
    let data = yaml("tfstate_password: 0123456\ntokens: [1_000, {x: 010}]\nplain: 010\n");

    let warnings: Vec<String> = data.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    let text = warnings[..3].join("\n");
    assert!(!text.contains("0123456") && !text.contains("1_000") && !text.contains("010"), "{text}");
    assert!(warnings[3].contains("`010`"), "{warnings:?}");
}

#[test]
fn a_document_that_is_no_map_names_its_file_and_line() {
    let list = refused("nodes.yaml", b"a: 1\n---\n- b\n");
    let text = refused("nodes.yaml", b"just text");
    let empty = refused("nodes.yaml", b"a: 1\n---\n");
    let json = refused("data.json", b"[1]");

    assert!(
        list.starts_with("`nodes.yaml` must be a map of names and values\n  at nodes.yaml:3:1"),
        "{list}"
    );
    assert!(list.contains("found  a list"), "{list}");
    assert!(text.contains("found  a single value"), "{text}");
    assert!(empty.contains("found  an empty document"), "{empty}");
    assert!(json.starts_with("`data.json` must be a map"), "{json}");
}

#[test]
fn a_file_that_is_missing_names_the_nearest_and_an_optional_one_is_nothing() {
    let root = folder(&[("config/cluster.yaml", b"a: 1\n"), ("config/cluster.txt", b"")]);

    let error = load_data(root.path(), &[DataFile::required("config/clutser.yaml")]).expect_err("not there");
    let nothing = load_data(root.path(), &[DataFile::optional("nodes.yaml")]).unwrap();

    assert_eq!(error.exit(), Exit(65));
    let text = "data file `config/clutser.yaml` is not there\nhint: did you mean `config/cluster.yaml`?";
    assert_eq!(error.to_string(), text);
    assert!(nothing.values.is_empty());
}

#[test]
fn files_that_are_missing_are_told_together_and_a_sample_is_no_slip_of_the_name() {
    let root = folder(&[("cluster.sample.yaml", b"a: 1\n"), ("nodes.yaml.example", b"a: 1\n")]);

    let files = ["cluster.yaml", "nodes.yaml"].map(DataFile::required);
    let error = load_data(root.path(), &files).expect_err("not there");

    assert_eq!(error.to_string(), "data files `cluster.yaml`, `nodes.yaml` are not there");
    let sample = |file: &str| sample_of(root.path(), Path::new(file));
    assert_eq!(sample("cluster.yaml"), Some("cluster.sample.yaml".into()));
    assert_eq!(sample("nodes.yaml"), Some("nodes.yaml.example".into()));
    assert_eq!(sample("other.yaml"), None);
}

#[test]
fn a_key_that_is_given_twice_names_both_lines() {
    let yaml = refused("a.yaml", b"k: 1\nm:\n  k: 1\n  l: 2\n  \"k\": 3\n");
    let json = refused("a.json", b"{\"k\": 1,\n \"k\": 2}");
    let toml = refused("a.toml", b"k = 1\nk = 2\n");

    assert!(yaml.starts_with("key `k` is given twice in `a.yaml`\n  at a.yaml:5:3\n"), "{yaml}");
    assert!(yaml.contains("line 3"), "{yaml}");
    assert!(json.starts_with("key `k` is given twice in `a.json`\n  at a.json:2:2"), "{json}");
    assert!(toml.contains("at a.toml:2:1"), "{toml}");
}

#[test]
fn broken_files_are_told_with_line_and_column() {
    let tab = refused("a.yaml", b"a:\n\tb: 1\n");
    let bracket = refused("a.yaml", b"a: [1, 2\nb: 3\n");
    let json = refused("a.json", b"{\"a\": 1,}");
    let toml = refused("a.toml", b"a = \n");
    let bytes = refused("a.yaml", b"a: 1\nb: \xff\n");

    assert!(tab.starts_with("`a.yaml` is not valid YAML\n  at a.yaml:2:"), "{tab}");
    assert!(tab.contains("hint: YAML is indented with spaces"), "{tab}");
    assert!(bracket.starts_with("`a.yaml` is not valid YAML\n  at a.yaml:"), "{bracket}");
    assert!(json.starts_with("`a.json` is not valid JSON\n  at a.json:1:9"), "{json}");
    assert!(toml.starts_with("`a.toml` is not valid TOML\n  at a.toml:1:"), "{toml}");
    assert!(bytes.contains("at a.yaml:2:4") && bytes.contains("UTF-8"), "{bytes}");
}

#[test]
fn of_several_broken_files_each_is_told() {
    let files: [(&str, &[u8]); 3] = [("a.yaml", b"a: [1"), ("b.yaml", b"b: 1"), ("c.json", b"[1]")];

    let error = load(&files).expect_err("a refusal").to_string();

    assert!(error.starts_with("2 data files cannot be read\n"), "{error}");
    assert!(error.contains("`a.yaml` is not valid YAML\n    at a.yaml:"), "{error}");
    assert!(error.contains("`c.json` must be a map of names and values\n    at c.json:1:1"), "{error}");
}

#[test]
fn what_yaml_allows_and_no_template_could_use_is_refused() {
    let tag = refused("a.yaml", b"a: !vault x\n");
    let key = refused("a.yaml", b"? [a, b]\n: 1\n");
    let itself = refused("a.yaml", b"a: &x [1, *x]\n");
    let merge = refused("a.yaml", b"a: {<<: 3}\n");

    assert!(tag.contains("`!vault`") && tag.contains("a.yaml:1:"), "{tag}");
    assert!(key.starts_with("a key in `a.yaml` must be a text"), "{key}");
    assert!(itself.contains("contains itself"), "{itself}");
    assert!(merge.starts_with("`<<` must be a map"), "{merge}");
}

#[test]
fn a_huge_file_is_refused_before_it_is_read_to_its_end() {
    let root = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(root.path().join("big.yaml")).unwrap();
    file.set_len(50 * 1024 * 1024).unwrap();

    let error = load_data(root.path(), &[DataFile::required("big.yaml")]).expect_err("too large");

    assert!(error.to_string().starts_with("`big.yaml` is larger than 8 MiB"), "{error}");
    assert_eq!(error.exit(), Exit(65));
}

#[test]
fn a_few_lines_that_would_fill_the_memory_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let below = level - 1;
        let aliases = vec![format!("*a{below}"); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let keys: String = (0..2000).map(|key| format!("k{key}: 1, ")).collect();
    let merges = format!("m: &m {{{keys}}}\nl:\n{}", "  - {<<: *m}\n".repeat(2000));
    let text = format!("t: &t {}\nl: [{}]\n", "x".repeat(100_000), "*t, ".repeat(2000));

    for bomb in [bomb, merges, text] {
        let error = refused("bomb.yaml", bomb.as_bytes());
        assert!(
            error.starts_with("`bomb.yaml` holds more than 64 MiB of values\n  at bomb.yaml:"),
            "{error}"
        );
    }
}

#[test]
fn what_is_nested_too_deep_is_refused_in_every_format() {
    let flow = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
    let json = format!("{{\"a\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let toml = format!("a = {}{}", "[".repeat(200), "]".repeat(200));
    let mut aliases = "a0: &a0 [x]\n".to_owned();
    for level in 1..200 {
        aliases.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }

    for (name, text) in [("a.yaml", &flow), ("a.json", &json), ("a.toml", &toml), ("b.yaml", &aliases)] {
        let error = refused(name, text.as_bytes());
        assert!(error.contains(&format!("at {name}:")), "{error}");
    }
}

#[test]
fn json_of_thousands_of_levels_is_refused_as_yaml_is() {
    let (open, close) = ("[".repeat(8_000), "]".repeat(8_000));
    let allowed = format!("{{\"a\": {}{}}}", "[".repeat(127), "]".repeat(127));

    let json = refused("a.json", format!("{{\n\"a\": {open}{close}}}").as_bytes());
    let maps = refused("b.json", format!("{}1{}", "{\"a\":".repeat(8_000), "}".repeat(8_000)).as_bytes());

    assert_eq!(json, "`a.json` is nested more than 128 levels deep\n  at a.json:2:133");
    assert!(maps.starts_with("`b.json` is nested more than 128 levels deep\n  at b.json:1:"), "{maps}");
    assert!(load(&[("c.json", allowed.as_bytes())]).is_ok());
}

#[test]
fn a_large_file_on_one_line_is_read_quickly() {
    let items = vec!["{\"name\": \"ü\"}"; 100_000].join(",");
    let json = format!("{{\"l\": [{items}]}}");
    let toml = format!("l = [{}]", items.replace(':', " ="));

    let from_json = load(&[("a.json", json.as_bytes())]).unwrap();
    let from_toml = load(&[("a.toml", toml.as_bytes())]).unwrap();

    assert_eq!(from_json.values["l"].as_array().map(Vec::len), Some(100_000));
    assert_eq!(from_json.values, from_toml.values);
    assert_eq!(from_json.place_of(&["l", "2"]).unwrap().column, 36);
}

#[test]
fn hundreds_of_comment_lines_in_a_row_are_fine() {
    let data = yaml(&format!("{}a: 1\n{}", "# why\n".repeat(3000), "#\n".repeat(3000)));

    assert_eq!(data.values["a"], 1);
    assert_eq!(data.place_of(&["a"]).unwrap().line, 3001);
}

#[test]
fn derivations_keep_their_order_and_refuse_names_that_no_template_could_use() {
    let root = folder(&[("derive.yaml", b"z: a + 1\nb: [x, 2]\n"), ("bad.yaml", b"ok: 1\nno-name: x\n")]);

    let derivations = load_derivations(root.path(), &DataFile::required("derive.yaml")).unwrap();
    let error = load_derivations(root.path(), &DataFile::required("bad.yaml")).expect_err("a bad name");
    let none = load_derivations(root.path(), &DataFile::optional("nothing.yaml")).unwrap();

    assert_eq!(derivations.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["z", "b"]);
    assert!(
        error.to_string().starts_with("`no-name` is no name that a template could use\n  at bad.yaml:2:1")
    );
    assert!(none.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_bytes_make_reading_or_checking_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), format in 0..3_usize) {
        let name = ["a.yaml", "a.json", "a.toml"][format];

        if let Ok(data) = load(&[(name, &bytes)]) {
            let _ = data.check();
        }
    }

    #[test]
    fn no_text_of_yaml_signs_makes_reading_or_checking_panic(text in "[a-c0-9:\\-\\[\\]{}&*!|>'\"#%@,?~ \n\t<=._]{0,80}") {
        for name in ["a.yaml", "a.json", "a.toml"] {
            if let Ok(data) = load(&[(name, text.as_bytes())]) {
                let _ = data.check();
            }
        }
    }
}
