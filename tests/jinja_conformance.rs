//! Templates rendered by the real Jinja2, set up as makejinja does it, and by this program: the
//! same text, or an error from both. What differs is listed here and justified in
//! docs/rendering.md.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may panic and start programs")]

#[path = "support/makejinja.rs"]
mod makejinja;

#[path = "jinja_conformance/generated.rs"]
mod generated;

use std::borrow::Cow;
use std::path::Path;

use infra::model::{Environment, Values};
use infra::render::{Engine, Marks, RenderSettings, SourceFile, TemplateAccess, UndefinedMode, render_tree};
use serde_json::{Value, json};

/// One case a line; `¶` is a line end.
const CASES: &str = include_str!("jinja_conformance/cases.txt");

const MODES: [(&str, UndefinedMode); 3] = [
    ("strict", UndefinedMode::Strict),
    ("chainable", UndefinedMode::Chainable),
    ("lenient", UndefinedMode::Lenient),
];

/// Cases that come out otherwise than in Jinja2, and why.
const DIFFERENCES: &[(&str, Why)] = &[
    (
        "{% macro m(a) %}[{{ a }}|{{ varargs|join(',') }}|{{ kwargs|length }}]{% endmacro %}{{ m(1) }}",
        Why::MacroArguments,
    ),
    ("{% macro m() %}{{ kwargs.a }}{% endmacro %}{{ m(a=1) }}", Why::MacroArguments),
    ("{% macro m() %}{{ varargs }}{% endmacro %}{{ m(1, 2) }}", Why::MacroArguments),
    ("{% for i in [1, 2] %}{% include 'loop.j2' %}{% endfor %}", Why::SeesMore),
    ("{% for i in list %}\n  {% include 'loop.j2' %}\n{% endfor %}\n", Why::SeesMore),
    ("{% set local = 'L' %}{% from 'local.j2' import show %}{{ show() }}", Why::SeesMore),
    ("{% set local = 'L' %}{% include 'local2.j2' without context %}", Why::SeesMore),
    (
        "{{ nodes|selectattr('gpu')|map(attribute='name')|list }} {{ nodes|rejectattr('gpu')|map(attribute='name')|list }}",
        Why::MoreForgiving,
    ),
    ("{% for x in nothing %}{% endfor %}", Why::MoreForgiving),
    ("{{ [1, 'a']|sort }}", Why::MoreForgiving),
    ("{% set x, y = 'ab' %}{{ x }}{{ y }}", Why::TextsAreNotUnpacked),
    ("{{ '{:.1%}'.format(0.25) }}", Why::FormatFields),
    ("{{ '<b>x</b>'|striptags }}", Why::ForWebPages),
];

/// Why a case differs; docs/rendering.md has a paragraph for each.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// Macros know no `varargs` and `kwargs`.
    MacroArguments,
    /// Included and imported templates see the names around them, `loop` too.
    SeesMore,
    /// Jinja2 fails where this program goes on.
    MoreForgiving,
    /// A text is not taken apart into names.
    TextsAreNotUnpacked,
    /// `str.format` knows no `%`.
    FormatFields,
    /// Filters that make web pages are not there.
    ForWebPages,
}

#[test]
fn templates_render_as_in_jinja2() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());

    let theirs = makejinja::jinja(&asked(&cases));
    let ours = render_all(&cases);

    let mut wrong = Vec::new();
    for ((at, theirs), ours) in theirs.iter().enumerate().zip(&ours) {
        let (case, mode) = (&cases[at % cases.len()], MODES[at / cases.len()].0);
        let listed = DIFFERENCES.iter().any(|(template, _)| template == case);
        if !same(theirs, ours) && !listed {
            wrong.push(format!("{mode}: {case}\n  jinja2 {theirs}\n  ours   {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), ours.len(), wrong.join("\n"));
}

#[test]
fn generated_templates_render_as_in_jinja2() {
    let mut dice = generated::Dice::new(2_026);
    let mut cases: Vec<String> = (0..100).map(|_| format!("{{{{ {} }}}}", dice.expression(3))).collect();
    cases.extend((0..40).map(|_| dice.template(0)));

    let theirs = makejinja::jinja(&asked(&cases));
    let ours = render_all(&cases);

    let rendered = theirs.iter().filter(|answer| answer["text"].is_string()).count();
    assert!(rendered * 4 > theirs.len(), "only {rendered} of {} say anything", theirs.len());
    for ((at, theirs), ours) in theirs.iter().enumerate().zip(&ours) {
        // Where Jinja2 fails, more may be allowed here.
        let agree = theirs["text"].is_null() || same(theirs, ours);
        assert!(agree, "{}\n  jinja2 {theirs}\n  ours   {ours:?}", cases[at % cases.len()]);
    }
}

#[test]
fn every_difference_is_told_in_the_documentation() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rendering.md")).unwrap();

    for (template, why) in DIFFERENCES {
        assert!(page.contains(&format!("<!-- {why:?} -->")), "{template}: nothing about {why:?}");
    }
}

#[test]
fn every_listed_difference_is_still_one() {
    let cases: Vec<String> = DIFFERENCES.iter().map(|(template, _)| (*template).to_owned()).collect();

    let theirs = makejinja::jinja(&asked(&cases));
    let ours = render_all(&cases);

    let agreed: Vec<bool> = theirs.iter().zip(&ours).map(|(theirs, ours)| same(theirs, ours)).collect();
    for (at, case) in cases.iter().enumerate() {
        let everywhere = agreed.iter().skip(at).step_by(cases.len()).all(|same| *same);
        assert!(!everywhere, "no longer a difference: {case}");
    }
}

fn cases() -> Vec<String> {
    CASES.lines().map(|line| line.replace('¶', "\n")).collect()
}

fn asked(cases: &[String]) -> Value {
    let all = MODES.iter().flat_map(|(mode, _)| cases.iter().map(move |case| (mode, case)));
    let all: Vec<Value> = all.map(|(mode, case)| json!({"mode": mode, "template": case})).collect();
    let marks = json!({"block_start": "{%", "block_end": "%}", "variable_start": "{{", "variable_end": "}}",
        "comment_start": "{#", "comment_end": "#}"});
    json!({"cases": all, "marks": marks, "templates": templates(), "values": values()})
}

fn same(theirs: &Value, ours: &Result<String, String>) -> bool {
    match (theirs["text"].as_str(), ours) {
        (Some(theirs), Ok(ours)) => theirs == ours,
        (None, Err(_)) => true,
        _ => false,
    }
}

/// Renders every case in every mode.
fn render_all(cases: &[String]) -> Vec<Result<String, String>> {
    let modes = MODES.iter().map(|(_, mode)| engine(*mode));
    modes.flat_map(|engine| cases.iter().map(|case| render(&engine, case)).collect::<Vec<_>>()).collect()
}

fn engine(undefined: UndefinedMode) -> Engine {
    let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
    let marks = Marks { block: pair("{%", "%}"), variable: pair("{{", "}}"), comment: pair("{#", "#}") };
    let exclude = vec!["parts/*".to_owned()];
    let settings =
        RenderSettings { marks, undefined, exclude, keep_empty: true, ..RenderSettings::conventional() };
    let template_access = TemplateAccess { root: Path::new("/nowhere").into(), env: Environment::default() };
    Engine::new(&settings, &template_access).unwrap()
}

/// Renders one case beside the templates that it may include.
fn render(engine: &Engine, case: &str) -> Result<String, String> {
    let mut sources = vec![source("case.j2", case, "case.j2")];
    let parts = templates();
    let parts = parts.as_object().unwrap().iter();
    sources.extend(parts.map(|(name, text)| source(name, text.as_str().unwrap(), &format!("parts/{name}"))));
    let rendered = render_tree(engine, &sources, &values(), Path::new(""));
    let rendered = rendered.map_err(|error| error.to_string())?;
    let file = rendered.files.into_iter().next().unwrap();
    Ok(String::from_utf8(file.bytes).unwrap())
}

fn source(path: &str, text: &str, origin: &str) -> SourceFile {
    let bytes = Cow::Owned(text.as_bytes().to_vec());
    SourceFile { path: path.to_owned(), bytes, mode: 0o644, origin: origin.to_owned() }
}

/// What cases include and import.
fn templates() -> Value {
    json!({
        "part.j2": "part of {{ name }}\n",
        "loop.j2": "[{{ i }}:{{ loop.index|default('-') }}]",
        "sets.j2": "{% set leaked = 'out' %}({{ leaked }})",
        "macros.j2": "{% macro hello(x) %}hello {{ x }}{% endmacro %}\n{% macro shout(x) %}{{ x|upper }}!{% endmacro %}\n\
            {% macro uses_data() %}{{ name }} {{ number + 1 }}{% endmacro %}\n\
            {% macro wrap(tag) %}<{{ tag }}>{{ caller() }}</{{ tag }}>{% endmacro %}\n{% set constant = 42 %}\n",
        "base.j2": "head\n{% block body %}base {{ name }}{% endblock %}\n{% block foot %}foot{% endblock %}\n",
        "deep.j2": "deep({% include 'part.j2' %})",
        "local.j2": "{% macro show() %}[{{ local|default('-') }}]{% endmacro %}",
        "local2.j2": "[{{ local|default('-') }}]",
        "macro_part.j2": "<{{ x|default('-') }}>",
        "child.j2": "{% extends 'base.j2' %}{% block body %}child({{ super() }}){% endblock %}",
    })
}

fn values() -> Values {
    let values = json!({
        "name": "value", "number": 5, "float": 2.5, "truth": true, "nothing": null, "empty": "",
        "list": [1, 2, 3],
        "map": {"b": "two", "a": "One", "C": "three"},
        "nested": {"one": {"two": [1, {"three": "x"}]}},
        "nodes": [
            {"name": "n1", "role": "controller", "cores": 4, "tags": ["a", "b"]},
            {"name": "n2", "role": "worker", "cores": 2, "tags": ["c", "d"], "gpu": true},
            {"name": "n3", "role": "worker", "cores": 8, "tags": ["e", "f"], "gpu": false},
        ],
        "tree": [{"name": "a", "children": [{"name": "b", "children": []}, {"name": "c"}]}, {"name": "d"}],
        "multi": "first\n  second\n\nthird\n",
        "yaml_like": {"dotted.key": 1, "with space": "two"},
    });
    values.as_object().unwrap().clone()
}
