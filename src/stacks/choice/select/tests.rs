//! Tests: which stacks are chosen by which words.

use super::*;
use crate::error::Kind;
use crate::stacks::sample::{stack, stacks};

const IDS: [&str; 5] =
    ["01-hypervisors/pve1", "02-platforms/dns", "02-platforms/k8s-prod", "03-legacy/dns", "tools"];

/// Selects among the sample from a working directory below the root `/p`.
fn select_from(cwd: &str, selection: &Selection) -> Result<Vec<String>> {
    let project = Project { root: "/p".into(), ..Project::default() };
    let mut stacks = stacks(&IDS);
    stacks[0].tags = vec!["metal".into()];
    let chosen = select(&project, &stacks, selection, &Path::new("/p").join(cwd))?;
    Ok(chosen.iter().map(ToString::to_string).collect())
}

fn by_name(name: &str) -> Result<Vec<String>> {
    select_from("", &Selection { names: vec![name.into()], ..Selection::default() })
}

fn chosen(name: &str) -> Vec<String> {
    by_name(name).unwrap_or_else(|error| vec![error.to_string()])
}

#[test]
fn a_name_is_an_id_a_last_segment_a_glob_a_layer_or_a_tag() {
    let platforms = ["02-platforms/dns", "02-platforms/k8s-prod"];

    assert_eq!(chosen("02-platforms/k8s-prod"), ["02-platforms/k8s-prod"]);
    assert_eq!(chosen("k8s-prod"), ["02-platforms/k8s-prod"]);
    assert_eq!(chosen("*/dns"), ["02-platforms/dns", "03-legacy/dns"]);
    for layer in ["platforms", "02-platforms", "2", "02", "02-platforms/"] {
        assert_eq!(chosen(layer), platforms, "{layer}");
    }
    assert_eq!(chosen("metal"), ["01-hypervisors/pve1"]);
}

#[test]
fn a_path_from_the_root_or_the_working_directory_chooses_the_stack_there_or_all_below() {
    let names = |name: &str| Selection { names: vec![name.into()], ..Selection::default() };
    let layer = "infrastructure/02-platforms";

    assert_eq!(chosen("infrastructure/02-platforms/dns/"), ["02-platforms/dns"]);
    assert_eq!(chosen("/p/infrastructure/03-legacy/dns"), ["03-legacy/dns"]);
    assert_eq!(select_from(layer, &names("./dns")).expect("a stack"), ["02-platforms/dns"]);
    assert_eq!(select_from(layer, &names("../03-legacy/dns")).expect("a stack"), ["03-legacy/dns"]);
    assert_eq!(select_from("infrastructure/tools", &names(".")).expect("a stack"), ["tools"]);
    let platforms = ["02-platforms/dns", "02-platforms/k8s-prod"];
    for here in [".", "./", "../02-platforms", "/p/infrastructure/02-platforms/"] {
        assert_eq!(select_from(layer, &names(here)).expect("stacks"), platforms, "{here}");
    }
    assert_eq!(chosen("infrastructure").len(), IDS.len());
    // Two are called so, but one of them is here.
    assert_eq!(select_from(layer, &names("dns")).expect("a stack"), ["02-platforms/dns"]);
}

#[test]
fn an_unknown_name_is_a_usage_error_with_the_nearest() {
    let error = by_name("k8s-pord").expect_err("unknown");
    let path = by_name("02-platform/k8s-prod").expect_err("unknown");

    assert_eq!(error.kind(), Kind::Usage);
    assert_eq!(error.message(), "no stack is called `k8s-pord`");
    assert_eq!(error.hints(), ["did you mean `02-platforms/k8s-prod`?"]);
    assert_eq!(path.hints(), ["did you mean `02-platforms/k8s-prod`?"]);
    assert_eq!(by_name("platfroms").expect_err("unknown").hints(), ["did you mean `platforms`?"]);
}

#[test]
fn an_empty_name_is_a_usage_error_even_inside_a_stack() {
    let empty = Selection { names: vec![String::new()], ..Selection::default() };

    let error = select_from("infrastructure/tools", &empty).expect_err("no name");

    assert_eq!((error.kind(), error.message()), (Kind::Usage, "a stack name is empty"));
}

#[test]
fn an_ambiguous_name_is_a_usage_error_with_the_candidates() {
    let error = by_name("dns").expect_err("ambiguous");

    assert_eq!(error.kind(), Kind::Usage);
    assert_eq!(error.hints(), ["say which: `02-platforms/dns`, `03-legacy/dns`"]);
}

#[test]
fn with_nothing_chosen_the_working_directory_decides() {
    let nothing = Selection::default();

    let inside = select_from("infrastructure/02-platforms/k8s-prod/modules/x", &nothing);
    let outside = select_from("infrastructure/02-platforms", &nothing).expect_err("no stack around");

    assert_eq!(inside.expect("a stack"), ["02-platforms/k8s-prod"]);
    assert_eq!(outside.kind(), Kind::Usage);
    assert_eq!(outside.body(), IDS);
}

#[test]
fn with_nothing_chosen_what_only_looks_takes_all_below_the_working_directory() {
    let reads = Selection { reads: true, ..Selection::default() };

    let layer = select_from("infrastructure/02-platforms", &reads).expect("stacks");
    let inside = select_from("infrastructure/tools/files", &reads).expect("a stack");
    let beside = select_from("docs", &reads).expect_err("no stack around or below");

    assert_eq!(layer, ["02-platforms/dns", "02-platforms/k8s-prod"]);
    assert_eq!(inside, ["tools"]);
    assert_eq!(select_from("", &reads).expect("stacks"), IDS);
    assert_eq!(beside.body(), IDS);
}

#[test]
fn a_path_above_or_beside_the_project_is_told_from_one_that_is_not_there() {
    let above = by_name("/").expect_err("outside");
    let missing = by_name("./dnx").expect_err("nowhere");

    assert_eq!(above.message(), "`/` is outside of the project `/p`");
    assert_eq!(missing.message(), "there is no folder `./dnx`");
    assert_eq!(missing.hints(), ["did you mean `02-platforms/dns`, `03-legacy/dns`?"]);
}

#[test]
fn the_narrower_way_is_told_only_where_there_is_one() {
    let project = Project { root: "/p".into(), ..Project::default() };
    let from = |cwd: &str| narrower(&project, &stacks(&IDS), &Path::new("/p").join(cwd));

    assert_eq!(from("infrastructure/02-platforms"), Some(2));
    for cwd in ["", "infrastructure", "infrastructure/tools", "docs"] {
        assert_eq!(from(cwd), None, "{cwd}");
    }
}

#[test]
fn with_nothing_chosen_the_only_stack_is_taken() {
    let project = Project { root: "/p".into(), ..Project::default() };

    let only = select(&project, &stacks(&["a/b"]), &Selection::default(), Path::new("/p"));
    let none = select(&project, &[], &Selection::default(), Path::new("/p"));

    assert_eq!(only.expect("a stack"), [StackId::new("a/b")]);
    assert_eq!(none.expect_err("no stacks").kind(), Kind::Invalid);
}

#[test]
fn layers_and_tags_that_nobody_has_are_told_with_those_that_exist() {
    let layer = Selection { layers: vec!["apps".into()], ..Selection::default() };
    let tag = Selection { tags: vec!["gpu".into()], ..Selection::default() };

    let layer = select_from("", &layer).expect_err("no such layer");
    let tag = select_from("", &tag).expect_err("no such tag");

    assert_eq!(layer.hints(), ["there are `01-hypervisors`, `02-platforms`, `03-legacy`"]);
    assert_eq!(tag.hints(), ["there are `metal`"]);
}

#[test]
fn what_is_excluded_is_taken_out_last() {
    let all =
        Selection { all: true, exclude: vec!["platforms".into(), "tools".into()], ..Selection::default() };
    let none = Selection { all: true, exclude: vec!["**".into()], ..Selection::default() };
    let wrong = Selection { all: true, exclude: vec!["tolos".into()], ..Selection::default() };

    assert_eq!(select_from("", &all).expect("stacks"), ["01-hypervisors/pve1", "03-legacy/dns"]);
    assert_eq!(select_from("", &none).expect_err("nothing left").kind(), Kind::Usage);
    assert_eq!(select_from("", &wrong).expect_err("a slip").hints(), ["did you mean `tools`?"]);
}

#[test]
fn dependencies_and_dependents_are_added_over_any_number_of_steps() {
    let project = Project { root: "/p".into(), ..Project::default() };
    let stacks = [stack("a", &["b"]), stack("b", &["c"]), stack("c", &[]), stack("d", &[])];
    let with = |dependencies, dependents| {
        let selection = Selection {
            names: vec!["b".into()],
            with_dependencies: dependencies,
            with_dependents: dependents,
            ..Selection::default()
        };
        let chosen = select(&project, &stacks, &selection, Path::new("/p")).expect("stacks");
        chosen.iter().map(ToString::to_string).collect::<Vec<_>>()
    };

    assert_eq!(with(true, false), ["b", "c"]);
    assert_eq!(with(false, true), ["a", "b"]);
    assert_eq!(with(true, true), ["a", "b", "c"]);
}
