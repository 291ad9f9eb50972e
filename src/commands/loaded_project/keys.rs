//! Where the keys of the project are looked for.

use super::load::LoadedProject;
use crate::commands::Context;
use crate::secrets::{KeyPlaces, KeyTrust};

impl LoadedProject {
    /// Returns where the keys of this project are looked for.
    pub fn key_places<'a>(&'a self, context: &'a Context, trust: KeyTrust) -> KeyPlaces<'a> {
        KeyPlaces {
            env: &context.env,
            dir: &context.cwd,
            project: Some(&self.project.root),
            settings: &self.project.secrets,
            vault_ids: &[],
            password_files: &[],
            trust,
            interrupts: &context.interrupts,
        }
    }
}
