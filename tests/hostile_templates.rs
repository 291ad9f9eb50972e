//! Templates that mean harm, or are simply wrong: a clear error that names the template and its
//! line, nothing of the data in it, and an end within a moment.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use infra::error::Error;
use infra::model::{Environment, Values};
use infra::render::{
    Engine, RenderSettings, Rendered, SourceFile, TemplateAccess, UndefinedMode, load_inputs, render_tree,
};
use serde_json::json;

const SECRET: &str = "correct horse battery staple";

#[test]
fn a_loop_that_never_ends_is_stopped_and_its_line_told() {
    let endless = [
        "x\n#% for a in range(99999) %##% for b in range(99999) %##{ a }##% endfor %##% endfor %#",
        "x\n#% macro m(n) %##{ m(n) }##% endmacro %##{ m(1) }#",
        "x\n#% set l = [1] %##% for a in range(99) %##% do l.extend(l) %##% endfor %#",
        "x\n#% for a in l recursive %##{ loop(l) }##% endfor %#",
    ];

    for template in endless {
        let error = fails(template);
        assert!(error.to_string().contains("templates/t.j2:2"), "{template}: {error}");
    }
}

#[test]
fn a_template_that_includes_itself_is_stopped() {
    let error = fails("a\n#% include 't.j2' %#");

    assert!(error.to_string().contains("templates/t.j2:2"), "{error}");
}

#[test]
fn huge_expansions_are_stopped_before_they_fill_the_memory() {
    let doubling =
        "#% set ns = namespace(s='x') %##% for i in range(60) %##% set ns.s = ns.s ~ ns.s %##% endfor %#";
    let captured = "#% set big %##% for a in range(90000) %##{ 'x' * 30000 }##% endfor %##% endset %#";
    let raw =
        format!("#% set big %##% for a in range(99999) %#{}#% endfor %##% endset %#", "y".repeat(30_000));
    let product = "#{ 'x' * 9999999999 }#";
    let width = "#{ '%99999999d' % 1 }##{ 'x'|center(99999999) }##{ 'x'.ljust(9999999999) }#";
    let list = "#% set l = [0] * 9999999999 %#";
    let power = "#{ 9 ** 9 ** 9 }#";

    for template in [doubling, captured, &raw, product, width, list, power] {
        let error = fails(template);
        assert!(error.message().contains("does not render"), "{error}");
    }
}

#[test]
fn expressions_nested_without_end_are_an_error_and_no_crash() {
    let deep = 50_000;
    let templates = [
        format!("#{{ {}1{} }}#", "(".repeat(deep), ")".repeat(deep)),
        format!("#{{ {}1{} }}#", "[".repeat(deep), "]".repeat(deep)),
        format!("#{{ {}1 }}#", "-".repeat(deep)),
        format!("#{{ {}true }}#", "not ".repeat(deep)),
        format!("#{{ 1{} }}#", " if 1 else 1".repeat(deep)),
        "#% if true %#".repeat(deep),
    ];

    for template in templates {
        fails(&template);
    }
}

#[test]
fn an_error_shows_the_templates_line_and_nothing_of_the_data() {
    let wrong = [
        "a\n#{ password + 1 }#",
        "a\n#{ password / 2 }#",
        "a\n#{ password - 1 }#",
        "a\n#{ -password }#",
        "a\n#{ password.nothing() }#",
        "a\n#{ number // 0 }#",
        "a\n#{ (number ** 999) - password }#",
        "a\n#{ password(1) }#",
        "a\n#{ '%d' % password }#",
        "a\n#{ password | nofilter }#",
        "a\n#{ password | round }#",
        "a\n#{ password | batch(password) }#",
        "a\n#{ map[password] }#",
        "a\n#{ map | sort(attribute=password) | first + 1 }#",
        "a\n#% include password %#",
        "a\n#% include [password] %#",
        "a\n#% import password as x %#",
        "a\n#% extends password %#",
        "a\n#% for x, y in [password] %##% endfor %#",
        "a\n#% set password.x = 1 %#",
        "a\n#{ age_key(password) }#",
        "a\n#{ age_key('public', password) }#",
        "a\n#{ cloudflare_tunnel_id(password) }#",
        "a\n#{ cloudflare_tunnel_secret('../' ~ password) }#",
        "a\n#{ github_deploy_key('/' ~ password) }#",
        "a\n#{ github_push_token(file_path=password) }#",
        "a\n#{ range(password) }#",
        "a\n#{ dict(password) }#",
        "a\n#{ map.pop(password) }#",
        "a\n#{ [password].index('x') }#",
        "a\n#{ password.format(password) + 1 }#",
        "a\n#{ '{x}'.format(password) }#",
        "a\n#{ password is nosuchtest }#",
        "a\n#{ password | int(base=password) }#",
        "a\n#{ missing }#",
    ];

    for template in wrong {
        let text = fails(template).to_string();
        assert!(!text.contains(SECRET) && !text.contains("horse"), "{text}");
        assert!(text.contains("templates/t.j2:2") && text.contains("2 | #"), "{template}\n{text}");
    }
}

#[test]
fn a_missing_file_of_a_usual_name_is_named_and_a_key_can_be_made() {
    let key = fails("#{ age_key('public') }#");
    let tunnel = fails("#{ cloudflare_tunnel_id() }#");

    assert!(key.message().ends_with("`age.key` cannot be read: there is no such file"), "{key}");
    assert_eq!(key.hints(), ["make one with `infra secrets keygen --output age.key`"]);
    assert!(tunnel.message().contains("`cloudflare-tunnel.json` cannot be read"), "{tunnel}");
    assert_eq!(tunnel.hints().len(), 0);
}

#[test]
fn a_limit_or_a_wrong_operation_is_told_by_what_it_is() {
    let cases = [
        ("#{ range(1000001) }#", "`range` has more than 1000000 items"),
        ("#{ range(1, 2, 0) }#", "the step of `range` must not be 0"),
        ("#{ range(password) }#", "`range` takes whole numbers, found a string"),
        ("#{ number // 0 }#", "division by zero"),
        ("#{ number / 0 }#", "division by zero"),
        ("#{ number | batch(0) }#", "a number cannot be iterated over"),
    ];

    for (template, expected) in cases {
        let error = fails(template);
        assert!(error.message().contains(expected), "{template}: {error}");
    }
}

#[test]
fn what_is_undefined_or_unclosed_is_named() {
    let cases = [
        ("#{ map.nope.x }#", "`map.nope` is undefined", ""),
        ("#{ none.foo.bar }#", "`none.foo` is undefined", ""),
        ("a\n#% for x in l %#\nb\n", "does not render", "`#% for` of line 2 is never closed"),
        ("a\n#| b\nc\n", "does not render", "`#|` of line 2 is never closed"),
        ("#{ l | lenght }#", "there is no filter `lenght`", "did you mean `length`?"),
    ];

    for (template, expected, hint) in cases {
        let error = fails(template);
        assert!(error.message().contains(expected), "{template}: {error}");
        assert_eq!(error.hints().first().map_or("", String::as_str), hint, "{error}");
    }
}

#[test]
fn keys_that_expressions_read_are_not_told_as_unread() {
    let root = tempfile::tempdir().unwrap();
    let template_access = TemplateAccess { root: root.path().to_owned(), env: Environment::default() };
    let engine = Engine::new(&RenderSettings::conventional(), &template_access).unwrap();
    engine.evaluate("number + map.a | length", &values()).unwrap();

    let rendered = render_tree(&engine, &[source("t.j2", b"#{ l }#")], &values(), Path::new("")).unwrap();

    assert_eq!(rendered.unread, ["password"]);
}

#[test]
fn a_range_may_be_as_long_as_a_list() {
    let template = b"#{ range(1000000) | length }# #{ range(200000) | sum }# #{ range(0, 300000, 3)[-1] }#";

    let rendered = render(&[("t.j2", template)]).unwrap();

    assert_eq!(rendered.files[0].bytes, b"1000000 19999900000 299997");
}

#[test]
fn functions_read_nothing_outside_of_the_project() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("key"), "AGE-SECRET-KEY-1OUTSIDE").unwrap();
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path().join("key"), root.path().join("link")).unwrap();
    let absolute = outside.path().join("key").display().to_string();

    for path in ["../key", "/etc/passwd", "link", "a/../../key", &absolute] {
        let template = format!("#{{ github_deploy_key('{path}') }}#");
        let error = render_in(root.path(), &[("t.j2", template.as_bytes())]).unwrap_err();
        assert!(error.message().contains("outside of the project"), "{error}");
    }
}

#[test]
fn includes_know_no_path_but_those_below_the_inputs() {
    for name in ["../secret", "/etc/passwd", "./../t2.j2", "../t2.j2"] {
        let template = format!("a\n#% include '{name}' %#");
        let error = render(&[("t.j2", template.as_bytes()), ("t2.j2", b"x")]).unwrap_err();
        assert!(error.message().contains("no template of that name"), "{error}");
    }
}

#[test]
fn an_output_that_escapes_is_refused() {
    for path in ["../evil.j2", "/etc/evil.j2", "a/../../evil.j2", ".j2"] {
        let result = render(&[(path, b"x")]);
        let escapes = result.as_ref().is_err_and(|error| error.message().contains("outside of the output"));
        let harmless = result.is_ok_and(|rendered| rendered.files[0].path == Path::new(".j2"));
        assert!(escapes || (path == ".j2" && harmless), "{path}");
    }
}

#[test]
fn a_template_that_is_no_text_is_named_with_its_line() {
    let error = render(&[("t.j2", b"a\nb\xff\n"), ("copied.bin", b"\xff\xfe")]).unwrap_err();

    assert!(error.to_string().contains("templates/t.j2:2"), "{error}");
    assert!(error.message().contains("expected UTF-8"), "{error}");
}

#[test]
fn what_is_only_copied_may_hold_any_byte() {
    let rendered = render(&[("copied.bin", b"\xff\xfe#{ x }#")]).unwrap();

    assert_eq!(rendered.files[0].bytes, b"\xff\xfe#{ x }#");
}

#[test]
fn links_and_inputs_that_leave_the_project_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("linked")).unwrap();
    let settings = RenderSettings { inputs: vec!["linked".to_owned()], ..RenderSettings::conventional() };

    let error = load_inputs(root.path(), &settings).unwrap_err();

    assert!(error.message().contains("leads out of the project"), "{error}");
}

#[test]
fn every_failing_template_is_told_at_once() {
    let error =
        render(&[("a.j2", b"#{ 1 + }#"), ("b.j2", b"fine"), ("c.j2", b"\n#{ missing }#")]).unwrap_err();

    assert_eq!(error.message(), "2 templates do not render");
    let text = error.to_string();
    assert!(text.contains("templates/a.j2:1") && text.contains("templates/c.j2:2"), "{text}");
}

#[test]
fn a_misspelt_name_is_told_with_the_nearest() {
    let error = fails("a\n#% for n in l %##{ n }# #{ pasword.x }##% endfor %#");

    assert!(error.message().ends_with("`pasword` is undefined"), "{error}");
    assert_eq!(error.hints(), ["did you mean `password`?"]);
}

#[test]
fn two_templates_with_one_output_are_both_named() {
    let error = render(&[("a.yaml", b"x"), ("a.yaml.j2", b"y")]).unwrap_err();

    let expected = "`templates/a.yaml` and `templates/a.yaml.j2` would both be written to `a.yaml`";
    assert_eq!(error.message(), expected);
}

#[test]
fn what_a_template_does_to_the_data_no_other_sees() {
    let changing = b"#% do l.append(4) %##% do map.update({'b': 1}) %##{ l | length }##{ map | length }#";
    let indirect = b"#% include 'a.j2' %##{ l | length }#";

    let files = [
        ("a.j2", changing.as_slice()),
        ("b.j2", b"#{ l | length }#"),
        ("c.j2", indirect),
        ("d.j2", changing),
    ];
    let rendered = render(&files).unwrap();

    let texts: Vec<&[u8]> = rendered.files.iter().map(|file| file.bytes.as_slice()).collect();
    assert_eq!(texts, [b"42".as_slice(), b"3", b"424", b"42"]);
}

#[test]
fn keys_that_no_template_reads_are_told() {
    let rendered =
        render(&[("a.j2", b"#{ map.l | default(1) }##% set number = 1 %# l #| password #|")]).unwrap();

    assert_eq!(rendered.unread, ["password", "number", "l"]);
}

fn fails(template: &str) -> Error {
    render(&[("t.j2", template.as_bytes())]).unwrap_err()
}

fn render(files: &[(&str, &[u8])]) -> Result<Rendered, Error> {
    let root = tempfile::tempdir().unwrap();
    render_in(root.path(), files)
}

fn render_in(root: &Path, files: &[(&str, &[u8])]) -> Result<Rendered, Error> {
    let settings = RenderSettings { undefined: UndefinedMode::Strict, ..RenderSettings::conventional() };
    let template_access = TemplateAccess { root: root.to_owned(), env: Environment::default() };
    let engine = Engine::new(&settings, &template_access).unwrap();
    let sources: Vec<SourceFile> = files.iter().map(|(path, bytes)| source(path, bytes)).collect();
    render_tree(&engine, &sources, &values(), Path::new(""))
}

fn source(path: &str, bytes: &[u8]) -> SourceFile {
    let (path, origin) = (path.to_owned(), format!("templates/{path}"));
    SourceFile { path, bytes: Cow::Owned(bytes.to_vec()), mode: 0o644, origin }
}

fn values() -> Values {
    let values = json!({"password": SECRET, "number": 7, "map": {"a": SECRET}, "l": [1, 2, 3]});
    values.as_object().unwrap().clone()
}
