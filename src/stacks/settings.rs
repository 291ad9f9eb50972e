//! Which settings of `infra.yaml` hold for a stack: its patterns merged in the order of
//! the file. Lists grow, maps and single values are overwritten by later patterns.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};

use crate::model::{Project, StackId, StackSettings};

/// A glob over stack ids, or an id as it is; `*` does not cross a `/`.
#[derive(Debug)]
pub struct Pattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl Pattern {
    /// Reads a pattern; one that is no valid glob matches only itself.
    pub fn new(text: &str) -> Self {
        let glob =
            is_glob(text).then(|| GlobBuilder::new(text).literal_separator(true).build().ok()).flatten();
        let glob = glob.map(|glob| glob.compile_matcher());
        Self { text: text.to_owned(), glob }
    }

    /// Returns whether the pattern holds for an id. Ids may contain glob characters themselves.
    pub fn matches(&self, id: &StackId) -> bool {
        self.text == id.as_str() || self.glob.as_ref().is_some_and(|glob| glob.is_match(id.as_str()))
    }

    /// Returns whether the pattern can hold for more than one id.
    pub fn is_glob(&self) -> bool {
        self.glob.is_some()
    }
}

/// Returns whether a text contains glob characters.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The settings of a project with their patterns read once, for whoever asks about many stacks.
#[derive(Debug)]
pub struct SettingsBook<'a> {
    project: &'a Project,
    entries: Vec<(Pattern, &'a StackSettings)>,
}

impl<'a> SettingsBook<'a> {
    /// Reads the patterns of a project.
    pub fn of(project: &'a Project) -> Self {
        let entries = project.stack_settings.iter();
        Self { project, entries: entries.map(|(text, settings)| (Pattern::new(text), settings)).collect() }
    }

    /// Returns the settings of a stack, all patterns that match it merged.
    pub fn settings_for(&self, id: &StackId) -> StackSettings {
        in_workspace(self.project, id, |id, is_asked| {
            let matching = self.entries.iter().filter(|(pattern, _)| is_asked(&pattern.text));
            matching.filter(|(pattern, _)| pattern.matches(id)).map(|(_, settings)| *settings).collect()
        })
    }
}

/// Returns the settings of one stack, all patterns that match it merged.
pub fn settings_for(project: &Project, id: &StackId) -> StackSettings {
    // Reading a glob costs more than comparing how it begins.
    let may_match = |id: &StackId, text: &str| {
        text == id.as_str()
            || id.as_str().starts_with(text.split(['*', '?', '[', '{', '\\']).next().unwrap_or(""))
    };
    in_workspace(project, id, |id, is_asked| {
        let matching =
            project.stack_settings.iter().filter(|(text, _)| is_asked(text) && may_match(id, text));
        let matching = matching.filter(|(text, _)| Pattern::new(text).matches(id));
        matching.map(|(_, settings)| settings).collect()
    })
}

/// Returns what holds for a stack, or for one of its workspaces: what is said of the stack, then what the
/// entry says, then what is said of the full id.
///
/// `matching` returns the settings of the patterns that hold for an id, of those whose text is asked for.
fn in_workspace<'a>(
    project: &Project,
    id: &StackId,
    matching: impl Fn(&StackId, &dyn Fn(&str) -> bool) -> Vec<&'a StackSettings>,
) -> StackSettings {
    let all = |id: &StackId| matching(id, &|_| true).into_iter().fold(StackSettings::default(), merge);
    if let Some(base) = project.undeclared.get(id) {
        return StackSettings { workspaces: BTreeMap::new(), ..all(base) };
    }
    // A name of a folder may have an `@` of its own.
    for (at, _) in id.as_str().match_indices('@') {
        let (base, name) = (&id.as_str()[..at], &id.as_str()[at + 1..]);
        let mut settings = all(&StackId::new(base));
        if let Some(entry) = settings.workspaces.remove(name) {
            settings.workspaces.clear();
            settings.was = settings.was.map(|was| was.in_workspace(name));
            let own = matching(id, &|text| text.contains('@'));
            return std::iter::once(&entry).chain(own).fold(settings, merge);
        }
    }
    all(id)
}

/// Merges the settings of a later pattern over those of the earlier ones.
pub fn merge(mut merged: StackSettings, later: &StackSettings) -> StackSettings {
    append(&mut merged.tags, &later.tags);
    append(&mut merged.depends_on, &later.depends_on);
    append(&mut merged.var_files, &later.var_files);
    append(&mut merged.secrets, &later.secrets);
    merged.backend_config.extend(later.backend_config.iter().cloned());
    merged.inputs.extend(later.inputs.clone());
    merged.env.extend(later.env.clone());
    merged.pool = later.pool.clone().or(merged.pool);
    merged.protect = later.protect.or(merged.protect);
    merged.was = later.was.clone().or(merged.was);
    merged.workspace_variable = later.workspace_variable.clone().or(merged.workspace_variable);
    for (name, settings) in &later.workspaces {
        let known = merged.workspaces.remove(name).unwrap_or_default();
        merged.workspaces.insert(name.clone(), merge(known, settings));
    }
    merged
}

fn append(list: &mut Vec<String>, more: &[String]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_within_a_segment_and_two_cross_it() {
        let one = Pattern::new("01-hypervisors/*");
        let two = Pattern::new("01-hypervisors/**");
        let deep = StackId::new("01-hypervisors/a/b");

        assert!(one.matches(&StackId::new("01-hypervisors/a")));
        assert!(!one.matches(&deep));
        assert!(two.matches(&deep));
    }

    #[test]
    fn an_id_with_glob_characters_matches_itself() {
        let id = StackId::new("apps/[old] {x}");

        assert!(Pattern::new("apps/[old] {x}").matches(&id));
    }

    #[test]
    fn later_patterns_add_to_lists_and_win_elsewhere() {
        let wide = StackSettings {
            pool: Some("a".into()),
            tags: vec!["metal".into()],
            protect: Some(true),
            ..StackSettings::default()
        };
        let exact = StackSettings {
            tags: vec!["gpu".into(), "metal".into()],
            protect: Some(false),
            ..StackSettings::default()
        };
        let project = Project {
            stack_settings: vec![("01-*/*".into(), wide), ("01-a/x".into(), exact)],
            ..Project::default()
        };

        let settings = settings_for(&project, &StackId::new("01-a/x"));

        assert_eq!(settings.tags, ["metal", "gpu"]);
        assert_eq!(settings.pool.as_deref(), Some("a"));
        assert!(!settings.is_protected());
    }
}
