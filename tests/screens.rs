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
    insta::assert_snapshot!(HOMELAB.up, @r#"
    $ infra up --yes
      ✓ configure  13 unchanged
      homelab · 5 stacks · [n] at once · tofu [version]
    01-hypervisors/pve1  +2 ~0 -0
      + module.host.terraform_data.bridge["vmbr0"]
      + module.host.terraform_data.bridge["vmbr1"]
    01-hypervisors/pve2  +1 ~0 -0
      + module.host.terraform_data.bridge["vmbr0"]
      ✓ 01-hypervisors/pve1    applied +2 ~0 -0  [duration]
      ✓ 01-hypervisors/pve2    applied +1 ~0 -0  [duration]
    02-platforms/k8s-prod  +4 ~0 -0
      + module.control_plane["k8s-control"].terraform_data.machine
      + module.worker["k8s-worker-1"].terraform_data.machine
      + module.worker["k8s-worker-2"].terraform_data.machine
      + terraform_data.cluster
    02-platforms/storage  +1 ~0 -0
      + module.machine.terraform_data.machine
      ✓ 02-platforms/k8s-prod  applied +4 ~0 -0  [duration]
      ✓ 02-platforms/storage   applied +1 ~0 -0  [duration]
    03-legacy/pihole  +1 ~0 -0
      + terraform_data.record["k8s"]
      ✓ 03-legacy/pihole       applied +1 ~0 -0  [duration]
    infra.lock changed: `01-hypervisors/pve1`, `01-hypervisors/pve2`, `02-platforms/k8s-prod` and 2 more; commit it

      stack                  result     add  change  destroy  time
      01-hypervisors/pve1    ✓ applied    2       0        0  [duration]
      01-hypervisors/pve2    ✓ applied    1       0        0  [duration]
      02-platforms/k8s-prod  ✓ applied    4       0        0  [duration]
      02-platforms/storage   ✓ applied    1       0        0  [duration]
      03-legacy/pihole       ✓ applied    1       0        0  [duration]

      5 applied · [duration]
      next: see what it made: `infra output --all`
    $ infra output k8s-prod
    02-platforms/k8s-prod
      endpoint   = "https://k8s-control.example.test:6443"
      join_token = (sensitive)
      machines   = ["k8s-control","k8s-worker-1","k8s-worker-2"]
    "#);
}

#[test]
fn a_copied_stack() {
    insta::assert_snapshot!(HOMELAB.copied_stack, @r#"
    $ infra new-stack 01-hypervisors/pve3 --from pve1
    made `01-hypervisors/pve3` from `01-hypervisors/pve1` in `infrastructure/01-hypervisors/pve3`
      its state is `01-hypervisors/pve3`
    next:
      change what must differ in infrastructure/01-hypervisors/pve3
      infra plan 01-hypervisors/pve3
    "#);
}

#[test]
fn the_one_question_about_many_stacks() {
    insta::assert_snapshot!(HOMELAB.question, @r#"
    $ infra apply --all
      homelab · 5 stacks · [n] at once · tofu [version]
      ✓ 01-hypervisors/pve1    no changes  [duration]
      ✓ 01-hypervisors/pve2    no changes  [duration]
    02-platforms/k8s-prod  +0 ~2 -0
      ~ module.control_plane["k8s-control"].terraform_data.machine
          input.memory: 8192 → 4096
          output: {"bridge":"vmbr0","cores":4,"h… → (known after apply)
          1 unchanged
      ~ terraform_data.cluster
          input.control[0]: "k8s-control" → (known after apply)
          output: {"control":["k8s-control"],"na… → (known after apply)
          1 unchanged
      ~ output.endpoint: "https://k8s-control.examp… → (known after apply)
      ~ output.machines: ["k8s-control","k8s-worker… → (known after apply)
    02-platforms/storage  +0 ~1 -0
      ~ module.machine.terraform_data.machine
          input.memory: 16384 → 8192
          output: {"bridge":"vmbr0","cores":2,"h… → (known after apply)
          1 unchanged
      ~ output.machine: "truenas" → (known after apply)
    03-legacy/pihole  +1 ~0 -0 ·
        planned again when 02-platforms/k8s-prod is applied
      + terraform_data.record["nas"]
          input: {"name":"nas","target":"https://k8s-control.example.test:6443"}
          id: (known after apply)
          output: (known after apply)
      ~ output.records: {"k8s":"https://k8s-control… → (known after apply)
    Apply these changes to 3 stacks? [y/N] (d shows every attribute)
    "#);
}

#[test]
fn what_changes_in_each_resource() {
    insta::assert_snapshot!(*CHANGES, @r#"
    $ infra plan --all
      lab · 2 stacks · [n] at once · tofu [version]
      ✓ a/app  +0 ~1 -1 -/+1  [duration]
      ✓ a/net  no changes  [duration]

      stack  result        add  change  destroy  replace  time
      a/app  ✓ changes       0       1        1        1  [duration]
      a/net  ✓ no changes    0       0        0        0  [duration]

      1 with changes · 1 without changes · [duration]

    a/app  +0 ~1 -1 -/+1
      - terraform_data.machine[1]  (beyond `count`)
          id: "[id]"
          triggers_replace: {"image":"v1"}
    -/+ terraform_data.machine[0]
          triggers_replace.image: "v1" → "v2"  forces replacement
          id: "[id]" → (known after apply)
      ~ terraform_data.settings
          input.password: (sensitive)
          input.size: 4 → 8
          output: (sensitive) → (known after apply)
          1 unchanged

      next: apply exactly this: `infra apply a/app`
    "#);
}

#[test]
fn a_plan_that_is_not_what_was_shown() {
    insta::assert_snapshot!(*DIFFERENCE, @r#"
    $ infra apply --all
      homelab · 2 stacks · [n] at once · tofu [version]
    01-hypervisors/pve1  outputs only
      ~ output.memory: 16384 → 4096
    02-platforms/k8s-prod  +0 ~1 -0 ·
        planned again when 01-hypervisors/pve1 is applied
      ~ terraform_data.node
          input.cores: 2 → 4
          output: {"cores":2,"memory":16384} → (known after apply)
          1 unchanged
    Apply these changes to 2 stacks? [y/N] (d shows every attribute) y
      ✓ 01-hypervisors/pve1    applied outputs only  [duration]
    02-platforms/k8s-prod  +0 ~1 -0 · not what was shown
      ~ terraform_data.node
          input.memory: shown 16384, now 4096
    Apply it with these differences? [y/N] (d shows every attribute)
    "#);
}

#[test]
fn what_others_stand_on() {
    insta::assert_snapshot!(*DEPENDENTS, @r#"
    $ infra destroy 01-base/net
    error[has-dependents]: another stack that still has resources depends on `01-base/net`
      `02-apps/web`  input `subnet` from `01-base/net.subnet`, 3 resources
    hint: destroy them too: `infra destroy 01-base/net --with-dependents`
    hint: or destroy them first: `infra destroy 02-apps/web`
    hint: or leave them behind: `infra destroy 01-base/net --force`
    "#);
}

#[test]
fn the_stacks_of_several_environments() {
    insta::assert_snapshot!(*WORKSPACE, @r#"
    $ infra stacks
    lab
      cloud
        web@dev   embedded state
        web@prod  embedded state · #live
    "#);
}

#[test]
fn files_that_are_rendered() {
    insta::assert_snapshot!(*CONFIGURE, @r#"
    $ infra configure
      ✓ configure  9 new, 1 unchanged
    $ infra configure
      ✓ configure  10 unchanged
    "#);
}

#[test]
fn a_new_key() {
    insta::assert_snapshot!(*KEYS, @r#"
    $ infra secrets keygen --output ~/.config/sops/age/keys.txt
    age1[key]
    wrote the key to `/home/.config/sops/age/keys.txt`; above is its public half
    $ cat .sops.yaml
    creation_rules:
      - path_regex: \.sops\.yaml$
        age: age1[key]
    "#);
}

#[test]
fn a_state_that_is_gone() {
    insta::assert_snapshot!(STATES.gone, @r#"
    $ git clean -fdx && infra plan --all
    Removing .infra/
    Removing infrastructure/01-hypervisors/pve1/.terraform/
      lab · 01-hypervisors/pve1 · tofu [version]
      ✗ 01-hypervisors/pve1  failed  [duration]
    error[state-elsewhere]: the state of `01-hypervisors/pve1` is gone: it was in `.infra/state` of this checkout
      found  a safety copy: serial 1, [age] old, of `/home/me/lab`
      known  lineage [id], last kept at `embedded`
      without it everything of the stack would be made a second time
    hint: bring the copy back: `infra state recover 01-hypervisors/pve1`
    hint: start over on purpose: `infra state forget 01-hypervisors/pve1`
    hint: if this is a copy of somebody else's project: `infra state forget --all` next: fix what failed, then `infra plan 01-hypervisors/pve1`
    "#);
}

#[test]
fn a_state_that_was_not_moved() {
    insta::assert_snapshot!(STATES.not_moved, @r#"
    $ infra plan --all
      lab · 01-hypervisors/pve1 · tofu [version]
      ✗ 01-hypervisors/pve1  failed  [duration]
    error[state-not-moved]: the state of `01-hypervisors/pve1` was not moved: it is kept at `embedded`, not at `/srv/states/lab`
      serial 1, 1 resource
    hint: move all states there: `infra state migrate --all`
    hint: or start over on purpose: `infra state forget 01-hypervisors/pve1`
      next: fix what failed, then `infra plan 01-hypervisors/pve1`
    "#);
}

#[test]
fn what_a_killed_run_left() {
    insta::assert_snapshot!(*KILLED, @r#"
    $ infra plan k8s-prod
    warning: run [run] (apply, process [pid]) ended without finishing
    hint: it may have left a lock behind: `infra locks`
    hint: what it did: `.infra/runs/[run]`
      lab · 02-platforms/k8s-prod · tofu [version]
    warning: 02-platforms/k8s-prod: an earlier run could not save its state, which lies in `infrastructure/02-platforms/k8s-prod/errored.tfstate`: this plan does not know what it made
    hint: save it: `infra state push 02-platforms/k8s-prod --errored`, which removes the file
      ✗ 02-platforms/k8s-prod  failed  [duration]
    error[state-locked]: state of `02-platforms/k8s-prod` is locked
      holder   [user]@[host] · apply · tofu [version]
      since    [moment], [age] ago
      lock id  [id]
      process  [pid] on this host, which is gone
    hint: that run is dead; release its lock: `infra force-unlock 02-platforms/k8s-prod`
      next: fix what failed, then `infra plan 02-platforms/k8s-prod`
    "#);
}

#[test]
fn flags_that_are_typed_out_of_habit() {
    insta::assert_snapshot!(*HABIT, @r#"
    $ infra plan k8s-prod -target=module.cp -lock-timeout=5m
    error: `-target`, `-lock-timeout` are flags of tofu
    hint: `infra plan k8s-prod --lock-timeout 5m -- -target=module.cp`
    "#);
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
        ("infra plan cloud/web@live", Err("no situation yet: its session at a terminal did not end")),
        ("infra configure", Ok(&CONFIGURE)),
        ("infra secrets keygen --output ~/.config/sops/age/keys.txt", Ok(&KEYS)),
        ("infra state encrypt --all", Err("no situation yet: its session at a terminal did not end")),
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
