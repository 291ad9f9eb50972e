//! `infra` runs OpenTofu over layered stacks. This is the map of the house.
//!
//! Data flows one way: project files → [`project`] → [`stacks`] → [`state`] and the
//! [`tofu`] environment → [`engine`] → [`events`] → [`report`]. The narrow waist is two
//! types: [`model::RunPlan`] (choice ends there) and [`events::RunEvent`] (what happens,
//! as data). Everything left of them is choice, everything right of them is effect.
//!
//! | module | what it is for |
//! |---|---|
//! | [`atomic_file`] | small files, written whole or not at all |
//! | [`aws`] | the credentials for Amazon's services, found as tofu finds them |
//! | [`backends`] | how the state of a stack is reached, whatever its backend |
//! | [`bug`] | what a person sees when this program is wrong |
//! | [`cli`] | global flags, the list of commands, arguments → exit code |
//! | [`commands`] | the commands in rooms by theme, a file each: arguments, and one function that reads as the flow |
//! | [`error`] | the one error: kinds → exit codes, facts, hints |
//! | [`inventory`] | the machines in states, as an inventory for Ansible and ssh |
//! | [`lint`] | judges files by the rules for modules, providers, states, secrets |
//! | [`log`] | tracing for those who look for a defect |
//! | [`model`] | plain data, no I/O |
//! | [`events`] | what happens in a run; a leaf |
//! | [`project`] | finds, loads and validates `infra.yaml` |
//! | [`render`] | templates and values → the generated tree, in memory |
//! | [`secrets`] | SOPS, age, Ansible Vault, the redactor |
//! | [`stacks`] | discovery, order, selection |
//! | [`state`] | the state store, locks, the http backend |
//! | [`syntax`] | the language of OpenTofu's files as text: blocks, arguments, what a value says |
//! | [`trust`] | what this person made and allowed, kept outside of every project |
//! | [`tofu`] | the binary, its arguments, environment, messages, hints |
//! | [`proxies`] | the proxies that an environment names |
//! | [`forge`] | comments and issues on GitHub, GitLab, Gitea and Forgejo |
//! | [`upgrades`] | newer releases of what a project requires, and the edits that take them |
//! | [`process`] | starts programs, forwards signals; knows nothing of tofu |
//! | [`engine`] | makes a run plan happen |
//! | [`report`] | what people and machines see; alone writes to the terminal |
//!
//! `tests/architecture.rs` checks who may import whom.

pub mod atomic_file;
pub mod aws;
pub mod backends;
pub mod bug;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod error;
pub mod events;
pub mod forge;
pub mod inventory;
pub mod lint;
pub mod log;
pub mod model;
pub mod process;
pub mod project;
pub mod proxies;
pub mod render;
pub mod report;
pub mod secrets;
pub mod stacks;
pub mod state;
pub mod syntax;
pub mod tofu;
pub mod trust;
pub mod upgrades;
