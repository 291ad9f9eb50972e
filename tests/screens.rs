//! Every screen that README, guide and reference show, whole, at 80 columns: as a snapshot, and
//! against the document itself, so that a document that no longer tells the truth fails here.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "screens/documents.rs"]
mod documents;
#[path = "support/filter.rs"]
mod filter;
#[path = "screens/session.rs"]
mod session;
#[path = "screens/situations.rs"]
mod situations;
mod support;
#[path = "screens/transcript.rs"]
mod transcript;

use documents::{Block, blocks_with_output};
use situations::*;
use transcript::{Transcript, tells};

#[test]
fn what_the_read_me_shows_first() {
    insta::assert_snapshot!(HOMELAB.up, @"");
}

#[test]
fn a_copied_stack() {
    insta::assert_snapshot!(HOMELAB.copied_stack, @"");
}

#[test]
fn the_one_question_about_many_stacks() {
    insta::assert_snapshot!(HOMELAB.question, @"");
}

#[test]
fn what_changes_in_each_resource() {
    insta::assert_snapshot!(*CHANGES, @"");
}

#[test]
fn a_plan_that_is_not_what_was_shown() {
    insta::assert_snapshot!(*DIFFERENCE, @"");
}

#[test]
fn what_others_stand_on() {
    insta::assert_snapshot!(*DEPENDENTS, @"");
}

#[test]
fn the_stacks_of_several_environments() {
    insta::assert_snapshot!(*WORKSPACE, @"");
}

#[test]
fn files_that_are_rendered() {
    insta::assert_snapshot!(*CONFIGURE, @"");
}

#[test]
fn a_new_key() {
    insta::assert_snapshot!(*KEYS, @"");
}

#[test]
fn a_state_that_is_gone() {
    insta::assert_snapshot!(STATES.gone, @"");
}

#[test]
fn a_state_that_was_not_moved() {
    insta::assert_snapshot!(STATES.not_moved, @"");
}

#[test]
fn what_a_killed_run_left() {
    insta::assert_snapshot!(*KILLED, @"");
}

#[test]
fn flags_that_are_typed_out_of_habit() {
    insta::assert_snapshot!(*HABIT, @"");
}

/// The blocks of the documents in their order: the first command that has output there, and the situation
/// that it is about, or why there is none.
fn shown() -> [(&'static str, Result<&'static Transcript, &'static str>); 15] {
    [
        ("infra up --yes", Ok(&HOMELAB.up)),
        ("infra new-stack 01-hypervisors/pve3 --from pve1", Ok(&HOMELAB.copied_stack)),
        ("infra apply --all", Ok(&HOMELAB.question)),
        ("infra plan --all", Ok(&CHANGES)),
        ("infra apply --all", Ok(&DIFFERENCE)),
        ("infra destroy 01-base/net", Ok(&DEPENDENTS)),
        ("infra stacks", Ok(&WORKSPACE)),
        ("infra plan cloud/web@live", Err("its second command asks a question")),
        ("infra configure", Ok(&CONFIGURE)),
        ("infra secrets keygen --output ~/.config/sops/age/keys.txt", Ok(&KEYS)),
        ("infra state encrypt --all", Err("it asks a question")),
        ("git clean -fdx && infra plan --all", Ok(&STATES.gone)),
        ("infra plan --all", Ok(&STATES.not_moved)),
        ("infra plan k8s-prod", Ok(&KILLED)),
        ("infra plan k8s-prod -target=module.cp -lock-timeout=5m", Ok(&HABIT)),
    ]
}

#[test]
fn every_transcript_in_the_documents_is_what_the_program_tells() {
    let blocks = blocks_with_output();
    let names: Vec<&str> = blocks.iter().map(Block::name).collect();
    assert_eq!(
        names,
        shown().map(|(name, _)| name),
        "a block of the documents has no situation, or lost its place"
    );

    let wrong: Vec<String> =
        blocks.iter().zip(shown()).filter_map(|(block, (_, told))| difference(block, told.ok()?)).collect();

    assert!(
        wrong.is_empty(),
        "{}",
        wrong.join(
            "
"
        )
    );
}

/// Returns what a block shows and what is true, if they differ. A command without output may be left out.
fn difference(block: &Block, told: &Transcript) -> Option<String> {
    let mut told = told.0.iter();
    let mut shown = block.transcript.0.iter().filter(|command| !command.output.is_empty());
    let wrong = shown.find_map(|shown| match told.find(|told| told.line == shown.line) {
        Some(told) if tells(&shown.output, &told.output) => None,
        Some(told) => Some((
            shown,
            told.output.join(
                "
",
            ),
        )),
        None => Some((shown, "(its situation never types that)".to_owned())),
    });
    let (shown, told) = wrong?;
    let Block { place, .. } = block;
    Some(format!(
        "{place}: `{}` shows
{}
--- but the program tells
{told}
",
        shown.line,
        shown.output.join(
            "
"
        )
    ))
}
