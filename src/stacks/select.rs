//! Turns what was asked for into the ids of the chosen stacks. Names that mean nothing or
//! too much are errors that say what was probably meant. Begin at [`select`].

use std::collections::BTreeSet;
use std::path::Path;

use super::graph::{Graph, closure};
use super::names::{self, Miss, quoted};
use super::order::{Direction, Order};
use super::place::Place;
use crate::error::{Error, Result};
use crate::model::{Project, Stack, StackId};

/// What was asked for, as typed. Everything named adds to the choice.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Stacks by name: id, unique last segment, glob, layer, tag or path.
    pub names: Vec<String>,
    /// Layers by name or number.
    pub layers: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Every stack.
    pub all: bool,
    /// Names that are taken out at the end.
    pub exclude: Vec<String>,
    /// Adds everything the chosen ones depend on.
    pub with_dependencies: bool,
    /// Adds everything that depends on the chosen ones.
    pub with_dependents: bool,
}

impl Selection {
    /// Returns whether nothing was asked for, so that the working directory decides.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.layers.is_empty() && self.tags.is_empty() && !self.all
    }
}

/// Returns the chosen stacks, sorted by id; `cwd` is the absolute working directory.
pub fn select(
    project: &Project,
    stacks: &[Stack],
    selection: &Selection,
    cwd: &Path,
) -> Result<Vec<StackId>> {
    if stacks.is_empty() {
        return Err(no_stacks(project));
    }
    let place = Place::new(project, cwd);
    let mut chosen = named(stacks, selection, &place)?;
    widen(project, stacks, selection, &mut chosen)?;
    for name in &selection.exclude {
        for id in resolve(name, stacks, &place)? {
            chosen.remove(&id);
        }
    }
    if chosen.is_empty() {
        return Err(Error::usage("no stack is left after `--exclude`"));
    }
    Ok(chosen.into_iter().collect())
}

fn no_stacks(project: &Project) -> Error {
    Error::invalid(format!("project `{}` has no stacks", project.name))
        .at(project.root.display())
        .detail("a stack is a folder with `*.tf` or `*.tofu` files that is not a module")
        .hint("name the folder that holds them in infra.yaml: `stacks: { roots: [FOLDER] }`")
}

/// Returns the stacks that were named, or the one that the working directory means.
fn named(stacks: &[Stack], selection: &Selection, place: &Place) -> Result<BTreeSet<StackId>> {
    if selection.all {
        return Ok(stacks.iter().map(|stack| stack.id.clone()).collect());
    }
    if selection.is_empty() {
        return implied(stacks, place).map(|id| BTreeSet::from([id]));
    }
    let mut chosen = BTreeSet::new();
    for name in &selection.names {
        chosen.extend(resolve(name, stacks, place)?);
    }
    for layer in &selection.layers {
        chosen.extend(in_layer(layer, stacks)?);
    }
    for tag in &selection.tags {
        chosen.extend(tagged(tag, stacks)?);
    }
    Ok(chosen)
}

/// Returns the stack around the working directory, or the only one.
fn implied(stacks: &[Stack], place: &Place) -> Result<StackId> {
    if let Some(stack) = place.stack_around(stacks) {
        return Ok(stack.id.clone());
    }
    if let [only] = stacks {
        return Ok(only.id.clone());
    }
    let error = Error::usage("no stack is chosen, and the working directory is in none");
    let error = stacks.iter().fold(error, |error, stack| error.detail(stack.id.as_str()));
    Err(error.hint("name one or more of them, or choose with `--all`, `--layer` or `--tag`"))
}

fn resolve(name: &str, stacks: &[Stack], place: &Place) -> Result<Vec<StackId>> {
    // An unset variable in a script must not mean the folder that the script runs in.
    if name.trim().is_empty() {
        return Err(Error::usage("a stack name is empty").hint(format!("the stacks are {}", listed(stacks))));
    }
    // `.` is the folder one is in, as everywhere else, before it is the id of a root stack.
    if (name == "." || name.starts_with("./") || name.starts_with("../"))
        && let Some(stack) = place.stack_at(name, stacks)
    {
        return Ok(vec![stack.id.clone()]);
    }
    let found = names::find(name.trim_end_matches('/'), stacks);
    found.or_else(|miss| match place.stack_at(name, stacks) {
        Some(stack) => Ok(vec![stack.id.clone()]),
        None => Err(unresolved(&miss, name, stacks)),
    })
}

fn unresolved(miss: &Miss, name: &str, stacks: &[Stack]) -> Error {
    let error = Error::usage(miss.message(name));
    match miss.hint() {
        Some(hint) => error.hint(hint),
        None => error.hint(format!("the stacks are {}", listed(stacks))),
    }
}

/// Lists the first stacks; a long list would hide the message.
fn listed(stacks: &[Stack]) -> String {
    let shown = quoted(stacks.iter().take(10).map(|stack| stack.id.as_str()));
    match stacks.len().checked_sub(10) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more: `infra stacks`"),
    }
}

fn in_layer(layer: &str, stacks: &[Stack]) -> Result<Vec<StackId>> {
    let is_in = |stack: &&Stack| names::is_in_layer(&stack.id, layer);
    let found = stacks.iter().filter(is_in).map(|stack| stack.id.clone()).collect::<Vec<_>>();
    let known = stacks.iter().filter_map(|stack| names::layer_segment(&stack.id));
    or_unknown(found, "no stack is in a layer", layer, known.collect())
}

fn tagged(tag: &str, stacks: &[Stack]) -> Result<Vec<StackId>> {
    let is_tagged = |stack: &&Stack| stack.tags.iter().any(|own| own == tag);
    let found = stacks.iter().filter(is_tagged).map(|stack| stack.id.clone()).collect::<Vec<_>>();
    let known = stacks.iter().flat_map(|stack| stack.tags.iter().map(String::as_str));
    or_unknown(found, "no stack has the tag", tag, known.collect())
}

/// Returns what was found, or the error that lists what could have been.
fn or_unknown(found: Vec<StackId>, what: &str, name: &str, known: BTreeSet<&str>) -> Result<Vec<StackId>> {
    if !found.is_empty() {
        return Ok(found);
    }
    let known = quoted(known);
    let hint = if known.is_empty() {
        "there are none in this project".to_owned()
    } else {
        format!("there are {known}")
    };
    Err(Error::usage(format!("{what} `{name}`")).hint(hint))
}

/// Adds what the chosen stacks depend on, or what depends on them, over any number of steps.
fn widen(
    project: &Project,
    stacks: &[Stack],
    selection: &Selection,
    chosen: &mut BTreeSet<StackId>,
) -> Result<()> {
    if !selection.with_dependencies && !selection.with_dependents {
        return Ok(());
    }
    let graph = Graph::new(stacks)?;
    let all = stacks.iter().map(|stack| stack.id.clone()).collect::<Vec<_>>();
    let order = Order::new(project, &graph, &all)?;
    let starts = chosen.iter().filter_map(|id| graph.index(id)).collect::<Vec<_>>();
    let ways = [(selection.with_dependencies, Direction::Up), (selection.with_dependents, Direction::Down)];
    for (_, direction) in ways.into_iter().filter(|(is_asked, _)| *is_asked) {
        let edges = order.edges(direction);
        for &start in &starts {
            let more = closure(start, |next| &edges[next]);
            chosen.extend(more.into_iter().map(|index| stacks[index].id.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{stack, stacks};
    use super::*;
    use crate::error::Kind;

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
    fn a_path_from_the_root_or_the_working_directory_is_a_name() {
        let names = |name: &str| Selection { names: vec![name.into()], ..Selection::default() };
        let layer = "infrastructure/02-platforms";

        assert_eq!(chosen("infrastructure/02-platforms/dns/"), ["02-platforms/dns"]);
        assert_eq!(chosen("/p/infrastructure/03-legacy/dns"), ["03-legacy/dns"]);
        assert_eq!(select_from(layer, &names("./dns")).expect("a stack"), ["02-platforms/dns"]);
        assert_eq!(select_from(layer, &names("../03-legacy/dns")).expect("a stack"), ["03-legacy/dns"]);
        assert_eq!(select_from("infrastructure/tools", &names(".")).expect("a stack"), ["tools"]);
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
        let all = Selection {
            all: true,
            exclude: vec!["platforms".into(), "tools".into()],
            ..Selection::default()
        };
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
}
