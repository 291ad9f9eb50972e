//! Random trees: what is written must read as the same tree, in every format that holds it.

use infra::secrets::sops::Format;
use infra::secrets::sops::stores::{self, Layout};
use infra::secrets::sops::tree::{Comment, Document, Item, ListEntry, Value};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

const PIECES: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\t",
    "a",
    "b",
    "x y",
    ":",
    ": ",
    "#",
    " #",
    "-",
    "- ",
    "?",
    "!",
    "&",
    "*",
    "%",
    "@",
    "`",
    "\"",
    "'",
    "|",
    ">",
    "{",
    "}",
    "[",
    "]",
    ",",
    "=",
    ".",
    "0",
    "1e5",
    "_",
    "é",
    "\u{a0}",
    "\u{e000}",
    "漢",
    "🔐",
    "\u{7}",
    "\u{1b}",
    "~",
    "null",
    "true",
    "yes",
    "<<",
    "---",
    "2024-01-31",
    "12:30",
    "\\",
    "0x1f",
    "word",
];

fn text(random: &mut StdRng) -> String {
    let count = *[0, 1, 1, 2, 3, 5, 9].choose(random).unwrap();
    (0..count).map(|_| *PIECES.choose(random).unwrap()).collect()
}

fn scalar(random: &mut StdRng) -> Value {
    match random.gen_range(0..8) {
        0 => Value::Null,
        1 => Value::Bool(random.gen_range(0..2) == 0),
        2 => Value::Int(random.gen_range(i64::MIN..=i64::MAX)),
        3 => Value::Float(f64::from(random.gen_range(-1_000_000_i32..1_000_000)) / 64.0 + 1.0 / 128.0),
        _ => Value::text(text(random)),
    }
}

fn value(random: &mut StdRng, depth: usize) -> Value {
    match random.gen_range(0..6) {
        0 if depth < 4 => Value::Map(map(random, depth + 1)),
        1 if depth < 4 => {
            let count = random.gen_range(0..4);
            Value::List((0..count).map(|_| ListEntry::Value(value(random, depth + 1))).collect())
        }
        _ => scalar(random),
    }
}

/// Names are unlike, and none is the merge key, which takes only maps.
fn map(random: &mut StdRng, depth: usize) -> Document {
    let count = random.gen_range(0..5);
    (0..count).map(|at| Item::Pair(format!("{}{at}", text(random)), value(random, depth))).collect()
}

/// sops writes a block in a list that starts with a space or line break so that nobody can
/// read it again; such texts are left out.
fn is_readable(value: &Value, in_list: bool) -> bool {
    match value {
        Value::Text(bytes) => {
            !(in_list && bytes.contains(&b'\n') && matches!(bytes.first(), Some(b' ' | b'\n')))
        }
        Value::Map(items) => items.iter().all(|item| match item {
            Item::Pair(name, value) => {
                !(name.contains('\n') && name.starts_with([' ', '\n'])) && is_readable(value, in_list)
            }
            Item::Comment(_) => true,
        }),
        Value::List(entries) => entries.iter().all(|entry| match entry {
            ListEntry::Value(value) => is_readable(value, true),
            ListEntry::Comment(_) => true,
        }),
        _ => true,
    }
}

#[test]
fn a_tree_written_as_yaml_or_json_reads_as_the_same_tree() {
    let mut random = StdRng::seed_from_u64(7);

    for _ in 0..300 {
        let document = map(&mut random, 0);
        if !is_readable(&Value::Map(document.clone()), false) {
            continue;
        }
        for format in [Format::Yaml, Format::Json] {
            let bytes = stores::write(format, std::slice::from_ref(&document), Layout::default()).unwrap();
            let read = stores::load(format, &bytes);

            let shown = String::from_utf8_lossy(&bytes).into_owned();
            assert_eq!(
                read.unwrap_or_else(|error| panic!("{error}\n{shown}")),
                std::slice::from_ref(&document),
                "{shown}"
            );
        }
    }
}

/// Puts comments before, beside and behind the values of maps. Names stay on one line: sops
/// loses the place of comments below a key of several.
fn with_comments(random: &mut StdRng, items: Document) -> Document {
    let mut out = Document::new();
    let empty = items.is_empty();
    for item in items {
        let Item::Pair(name, value) = item else { continue };
        if random.gen_range(0..4) == 0 {
            out.push(comment(random, false));
        }
        if random.gen_range(0..4) == 0 && !matches!(value, Value::Map(_) | Value::List(_)) {
            out.push(comment(random, true));
        }
        let value = match value {
            Value::Map(items) => Value::Map(with_comments(random, items)),
            value => value,
        };
        out.push(Item::Pair(name.replace('\n', "_"), value));
    }
    if random.gen_range(0..4) == 0 && !empty {
        out.push(comment(random, false));
    }
    out
}

fn comment(random: &mut StdRng, beside: bool) -> Item {
    let text = format!("ENC[{}]", random.gen_range(0..1_000_000));
    Item::Comment(Comment { text: text.into(), beside })
}

#[test]
fn an_encrypted_file_reads_with_every_comment_in_its_place() {
    let mut random = StdRng::seed_from_u64(5);

    for _ in 0..300 {
        let plain = map(&mut random, 0);
        if plain.is_empty() || !is_readable(&Value::Map(plain.clone()), false) {
            continue;
        }
        let mut document = with_comments(&mut random, plain);
        document
            .push(Item::Pair("sops".into(), Value::Map(vec![Item::Pair("mac".into(), Value::text("m"))])));
        let bytes = stores::write_encrypted(Format::Yaml, std::slice::from_ref(&document), Layout::default());

        let bytes = bytes.unwrap();
        let read = stores::load_encrypted(Format::Yaml, &bytes).unwrap();

        assert_eq!(read, [document], "{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn no_text_makes_a_store_panic() {
    let mut random = StdRng::seed_from_u64(11);

    for _ in 0..3_000 {
        let text: String =
            (0..random.gen_range(0..25)).map(|_| *PIECES.choose(&mut random).unwrap()).collect();
        for format in Format::ALL {
            if let Ok(documents) = stores::load(format, text.as_bytes()) {
                let _ = stores::to_json(&documents);
                assert!(stores::write(format, &documents, Layout::default()).is_ok(), "{text:?}");
            }
        }
    }
}
