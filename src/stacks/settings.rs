//! Which settings of `infra.yaml` hold for a stack: its patterns merged in the order of
//! the file. Lists grow, maps and single values are overwritten by later patterns.

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
    entries: Vec<(Pattern, &'a StackSettings)>,
}

impl<'a> SettingsBook<'a> {
    /// Reads the patterns of a project.
    pub fn of(project: &'a Project) -> Self {
        let entries = project.stack_settings.iter();
        Self { entries: entries.map(|(text, settings)| (Pattern::new(text), settings)).collect() }
    }

    /// Returns the settings of a stack, all patterns that match it merged.
    pub fn settings_for(&self, id: &StackId) -> StackSettings {
        let matching = self.entries.iter().filter(|(pattern, _)| pattern.matches(id));
        matching.fold(StackSettings::default(), |merged, (_, settings)| merge(merged, settings))
    }
}

/// Returns the settings of one stack, all patterns that match it merged.
pub fn settings_for(project: &Project, id: &StackId) -> StackSettings {
    // Reading a glob costs more than comparing how it begins.
    let may_match =
        |text: &str| id.as_str().starts_with(text.split(['*', '?', '[', '{', '\\']).next().unwrap_or(""));
    let matching = project.stack_settings.iter().filter(|(text, _)| text == id.as_str() || may_match(text));
    let matching = matching.filter(|(text, _)| Pattern::new(text).matches(id));
    matching.fold(StackSettings::default(), |merged, (_, settings)| merge(merged, settings))
}

/// Merges the settings of a later pattern over those of the earlier ones.
pub fn merge(mut merged: StackSettings, later: &StackSettings) -> StackSettings {
    append(&mut merged.tags, &later.tags);
    append(&mut merged.depends_on, &later.depends_on);
    append(&mut merged.var_files, &later.var_files);
    append(&mut merged.secrets, &later.secrets);
    merged.inputs.extend(later.inputs.clone());
    merged.env.extend(later.env.clone());
    merged.pool = later.pool.clone().or(merged.pool);
    merged.protect = later.protect.or(merged.protect);
    merged.was = later.was.clone().or(merged.was);
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
