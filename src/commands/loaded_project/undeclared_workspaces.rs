//! Which workspace stacks run in for which `infra.yaml` declares none: where the bare tofu would.
//!
//! That is what `env` in `infra.yaml` says; else, for stacks that are named, `--workspace` or
//! the caller's `TF_WORKSPACE`, or what stands behind the `@` of a name; else what was selected
//! in the stack's own folder. Begin at [`LoadedProject::load_for`].

use std::path::PathBuf;

use super::load::LoadedProject;
use crate::backends;
use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::error::{Error, Result};
use crate::model::{Stack, StackId, StackWorkspace, WorkspaceOrigin};
use crate::stacks;
use crate::stacks::{Selection, SettingsBook};

/// Commands that touch no state, so that the caller's `TF_WORKSPACE` is not about them.
const ELSEWHERE: [&str; 7] = ["completions", "doctor", "fmt", "new-stack", "stacks", "test", "validate"];

impl LoadedProject {
    /// Returns the workspace that the caller's environment names, for commands that care.
    pub fn inherited(context: &Context) -> Option<String> {
        let is_about_states = !ELSEWHERE.contains(&context.command.as_str());
        let name = context.env.get("TF_WORKSPACE").filter(|name| !name.is_empty() && is_about_states);
        name.map(str::to_owned)
    }

    /// Finds and reads the project, for a command about these stacks.
    pub async fn load_for(context: &Context, args: &StackArgs) -> Result<Self> {
        let mut workspace = Self::load(context)?;
        if let Some(base) = &args.changed {
            workspace.keep_changed(base, context).await?;
        }
        workspace.enter_typed(args)?;
        let asked = args.workspace.clone().or_else(|| Self::inherited(context));
        if let Some(name) = asked {
            workspace.enter_asked(&name, args, context)?;
        }
        if args.create {
            workspace.allow_making(args, context);
        }
        Ok(workspace)
    }

    /// Puts stacks where the settings, or the folder itself, say.
    pub fn enter_configured(&mut self, context: &Context) -> Result<()> {
        let book = SettingsBook::of(&self.project);
        let is_set = self.project.stack_settings.iter().any(|(_, settings)| {
            settings.env.contains_key("TF_WORKSPACE") || settings.env.contains_key("TF_DATA_DIR")
        });
        let configured = |stack: &Stack| {
            let own = if is_set { book.settings_for(&stack.id).env } else { Default::default() };
            let pinned = own.get("TF_WORKSPACE").filter(|name| !name.is_empty());
            if let Some(name) = pinned.filter(|_| stack.backend.has_workspaces()) {
                return Some((stack.id.clone(), name.clone(), WorkspaceOrigin::Asked { create: false }));
            }
            let data_dir = own.get("TF_DATA_DIR").map(PathBuf::from);
            let data_dir =
                data_dir.or_else(|| context.env.path("TF_DATA_DIR")).unwrap_or(".terraform".into());
            let data_dir = self.project.root.join(&stack.path).join(data_dir);
            let selected = backends::selected_workspace(&data_dir)?;
            Some((stack.id.clone(), selected, WorkspaceOrigin::Selected))
        };
        let open = self.stacks.iter().filter(|stack| stack.workspace.is_none());
        let found: Vec<(StackId, String, WorkspaceOrigin)> = open.filter_map(configured).collect();
        for (id, name, origin) in found {
            match self.wrong(&id, &name, origin) {
                None => self.enter(&id, &name, origin)?,
                // It stays listed.
                wrong => {
                    let stacks = self.stacks.iter_mut().filter(|stack| stack.id == id);
                    stacks.for_each(|stack| stack.wrong_workspace.clone_from(&wrong));
                }
            }
        }
        Ok(())
    }

    /// Returns why a stack cannot run in a workspace of this name.
    fn wrong(&self, id: &StackId, name: &str, origin: WorkspaceOrigin) -> Option<String> {
        let place = match origin {
            WorkspaceOrigin::Selected => ".terraform/environment",
            WorkspaceOrigin::Declared | WorkspaceOrigin::Asked { .. } => "TF_WORKSPACE in infra.yaml",
        };
        let backend = self.stacks.iter().find(|stack| stack.id == *id).map(|stack| &stack.backend);
        match backend.filter(|backend| !backend.has_workspaces()) {
            _ if !StackWorkspace::is_name(name) => {
                Some(format!("{place} has {name:?}, which is no name of a workspace"))
            }
            Some(backend) => {
                let kind = backend.kind();
                Some(format!("{place} has {name:?}, and the backend `{kind}` has no workspaces"))
            }
            None => None,
        }
    }

    /// Puts stacks that were typed as `STACK@NAME` into that workspace, where none of this id is declared.
    fn enter_typed(&mut self, args: &StackArgs) -> Result<()> {
        for name in args.names.iter().chain(&args.stack) {
            let Some((base, workspace)) = name.rsplit_once('@').filter(|(base, _)| !base.is_empty()) else {
                continue;
            };
            let is_known =
                self.stacks.iter().any(|stack| stack.id.as_str() == name || stack.id.short_name() == name);
            if is_known {
                continue;
            }
            let meant = stacks::named_stack(base, &self.stacks);
            let open =
                meant.and_then(|id| self.stacks.iter().find(|stack| stack.id == id && is_undeclared(stack)));
            if let Some(id) = open.map(|stack| stack.id.clone()) {
                check_name(workspace)?;
                self.enter(&id, workspace, WorkspaceOrigin::Asked { create: false })?;
            }
        }
        Ok(())
    }

    /// Puts the stacks that were named into the workspace that was asked for.
    fn enter_asked(&mut self, name: &str, args: &StackArgs, context: &Context) -> Result<()> {
        check_name(name)?;
        for id in self.named(args, context) {
            let is_settled = |stack: &Stack| matches!(&stack.workspace, Some(own) if matches!(own.origin, WorkspaceOrigin::Asked { .. }));
            let open = self.stacks.iter().find(|stack| stack.id == id && is_undeclared(stack));
            if open.is_some_and(|stack| !is_settled(stack)) {
                self.enter(&id, name, WorkspaceOrigin::Asked { create: false })?;
            }
        }
        Ok(())
    }

    /// Lets the workspaces of named stacks be made where they are missing.
    fn allow_making(&mut self, args: &StackArgs, context: &Context) {
        let named = self.named(args, context);
        let declared = self.stacks.iter().filter(|stack| stack.declared_workspace().is_some());
        let begun = declared.map(|stack| stack.id.clone()).filter(|id| named.contains(id));
        self.project.begun = begun.filter(|id| is_in(id, args.workspace.as_deref())).collect();
        for stack in self.stacks.iter_mut().filter(|stack| named.contains(&stack.id)) {
            if let Some(StackWorkspace { origin: WorkspaceOrigin::Asked { create }, .. }) =
                &mut stack.workspace
            {
                *create = true;
            }
        }
    }

    fn named(&self, args: &StackArgs, context: &Context) -> Vec<StackId> {
        let selection = Selection { workspace: None, ..args.selection() };
        stacks::named_one_by_one(&self.project, &self.stacks, &selection, &context.cwd).into_iter().collect()
    }

    fn enter(&mut self, id: &StackId, name: &str, origin: WorkspaceOrigin) -> Result<()> {
        for stack in self.stacks.iter_mut().filter(|stack| stack.id == *id) {
            stack.wrong_workspace = None;
        }
        stacks::run_in(&mut self.project, &mut self.stacks, id, (name, origin))?;
        self.stacks.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(())
    }
}

/// Refuses what somebody asked for and tofu would not take.
fn check_name(name: &str) -> Result<()> {
    match StackWorkspace::is_name(name) {
        true => Ok(()),
        false => Err(Error::usage(format!("{name:?} is no name of a workspace"))
            .hint("letters, digits, `-`, `_` and `.` make one")),
    }
}

fn is_undeclared(stack: &Stack) -> bool {
    stack.declared_workspace().is_none() && stack.backend.has_workspaces()
}

/// Returns whether a stack is in the workspace that was asked for, if one was.
fn is_in(id: &StackId, asked: Option<&str>) -> bool {
    asked.is_none_or(|name| id.as_str().ends_with(&format!("@{name}")))
}
