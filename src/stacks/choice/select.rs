//! Turns what was asked for into the ids of the chosen stacks. Names that mean nothing or
//! too much are errors that say what was probably meant. Begin at [`select`].

use std::collections::BTreeSet;
use std::path::Path;

use super::misses::{listed, nowhere, or_unknown, outside, unresolved, without_stacks};
use super::names;
use super::names::Miss;
use super::narrow::narrow;
use super::typed_path::{PathContext, PathTarget, is_path};
use crate::error::{Error, Result};
use crate::model::{Project, Stack, StackId};
use crate::stacks::order::{Direction, Graph, Order, closure};

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
    /// Those only that a change affects; with nothing else, all of these.
    pub changed: bool,
    /// Names that are taken out at the end.
    pub exclude: Vec<String>,
    /// Leaves those only that run in this workspace.
    pub workspace: Option<String>,
    /// Adds everything the chosen ones depend on.
    pub with_dependencies: bool,
    /// Adds everything that depends on the chosen ones.
    pub with_dependents: bool,
    /// Whether they are only looked at, so that nothing asked for may mean several.
    pub reads: bool,
    /// Whether one is wanted and no more.
    pub one: bool,
}

impl Selection {
    /// Returns whether nothing was asked for, so that the working directory decides.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.layers.is_empty() && self.tags.is_empty() && !self.all && !self.changed
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
    select_among(project, stacks, selection, (cwd, &|_| true))
}

/// Returns the chosen ones among stacks of which some changed; there may be none.
pub fn select_among(
    project: &Project,
    stacks: &[Stack],
    selection: &Selection,
    (cwd, has_changed): (&Path, &dyn Fn(&Stack) -> bool),
) -> Result<Vec<StackId>> {
    let place = PathContext::new(project, cwd, stacks);
    let mut chosen = named(stacks, selection, &place)?;
    if selection.changed {
        let is_one = |id: &StackId| stacks.iter().any(|stack| stack.id == *id && has_changed(stack));
        chosen.retain(is_one);
    }
    if let Some(workspace) = selection.workspace.as_ref().filter(|_| !chosen.is_empty()) {
        match narrow(stacks, workspace, &mut chosen) {
            // That nothing changed there is no mistake.
            Err(_) if selection.changed => chosen.clear(),
            outcome => outcome?,
        }
    }
    widen(project, stacks, selection, &mut chosen)?;
    if let Some(workspace) = selection.workspace.as_deref() {
        // What is not run in several workspaces may be needed by those that are.
        let fits = |stack: &Stack| stack.declared_workspace().is_none_or(|name| name == workspace);
        chosen.retain(|id| stacks.iter().any(|stack| stack.id == *id && fits(stack)));
    }
    for name in &selection.exclude {
        for id in resolve(name, stacks, &place)? {
            chosen.remove(&id);
        }
    }
    if chosen.is_empty() && !selection.changed {
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

/// Returns how many stacks `.` would choose, in a folder that holds several but not all of them.
pub fn narrower(project: &Project, stacks: &[Stack], cwd: &Path) -> Option<usize> {
    let place = PathContext::new(project, cwd, stacks);
    let below = place.below().len();
    match place.look_at(".") {
        PathTarget::Stacks(found) if below > 1 && below < stacks.len() => Some(found.len()),
        _ => None,
    }
}

/// Returns the stacks that were named, or those that the working directory means.
fn named(stacks: &[Stack], selection: &Selection, place: &PathContext<'_>) -> Result<BTreeSet<StackId>> {
    let is_plain = selection.names.is_empty() && selection.layers.is_empty() && selection.tags.is_empty();
    if selection.all || (selection.changed && is_plain) {
        return Ok(stacks.iter().map(|stack| stack.id.clone()).collect());
    }
    if selection.is_empty() {
        return implied(stacks, selection, place).map(BTreeSet::from_iter);
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

/// Returns the stack around the working directory, or the only one, or all below it that are only looked at.
fn implied(stacks: &[Stack], selection: &Selection, place: &PathContext<'_>) -> Result<Vec<StackId>> {
    let around = place.around();
    if !around.is_empty() {
        return Ok(around);
    }
    // The only one may have several workspaces.
    if stacks.iter().all(|stack| stack.path == stacks[0].path) {
        return Ok(stacks.iter().map(|stack| stack.id.clone()).collect());
    }
    let below = place.below();
    if selection.reads && !below.is_empty() {
        return Ok(below);
    }
    let error = Error::usage("no stack is chosen, and the working directory is in none");
    let error = stacks.iter().fold(error, |error, stack| error.detail(stack.id.as_str()));
    if selection.one {
        return Err(error.hint("name one of them"));
    }
    Err(error
        .hint("name one or more of them, or choose with `--all`, `--layer` or `--tag`")
        .hint_if((!below.is_empty()).then_some("`.` chooses all below this folder")))
}

fn resolve(name: &str, stacks: &[Stack], place: &PathContext<'_>) -> Result<Vec<StackId>> {
    // An unset variable in a script must not mean the folder that the script runs in.
    if name.trim().is_empty() {
        return Err(Error::usage("a stack name is empty").hint(format!("the stacks are {}", listed(stacks))));
    }
    if let Some(found) = in_workspace(name, stacks, place) {
        return Ok(found);
    }
    let miss = match is_path(name) {
        true => None,
        false => match names::find(name.trim_end_matches('/'), stacks) {
            Ok(found) => return Ok(found),
            Err(miss) => Some(miss),
        },
    };
    match (place.look_at(name), miss) {
        (PathTarget::Stacks(found), _) => Ok(found),
        // That several stacks are called so says more than that a file is.
        (_, Some(miss @ Miss::Ambiguous(_))) => Err(unresolved(&miss, name, stacks)),
        (PathTarget::Without(part), _) => Err(without_stacks(name, &part, stacks)),
        (PathTarget::Outside(path), _) => Err(outside(name, &path, place)),
        (PathTarget::Nowhere, Some(miss)) => Err(unresolved(&miss, name, stacks)),
        (PathTarget::Nowhere, None) => Err(nowhere(name, stacks)),
    }
}

/// Returns the stacks of a folder in one workspace, for a path with `@` and the name of one behind it.
fn in_workspace(name: &str, stacks: &[Stack], place: &PathContext<'_>) -> Option<Vec<StackId>> {
    let (path, workspace) = name.rsplit_once('@').filter(|(path, _)| !path.is_empty())?;
    if stacks.iter().any(|stack| stack.id.as_str() == name) || place.look_at(name) != PathTarget::Nowhere {
        return None;
    }
    let PathTarget::Stacks(found) = place.look_at(path) else { return None };
    let is_meant = |stack: &&Stack| found.contains(&stack.id) && stack.workspace_name() == Some(workspace);
    let found: Vec<StackId> = stacks.iter().filter(is_meant).map(|stack| stack.id.clone()).collect();
    (!found.is_empty()).then_some(found)
}

fn in_layer(layer: &str, stacks: &[Stack]) -> Result<Vec<StackId>> {
    let is_in = |stack: &&Stack| names::is_in_layer(&stack.base_id(), layer);
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
