//! What was passed on to tofu, as a command that is typed again has it.
//!
//! Values of variables and of a backend may be secret, so they are never said; a command without them would do
//! something else, so none is made up.

use crate::model::quoted;

/// What followed `--`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum PassedArguments {
    /// Nothing.
    #[default]
    Nothing,
    /// What can be said: ` -- -target=a.b`.
    Sayable(String),
    /// Values among it that are not said.
    WithValues,
}

impl PassedArguments {
    /// Looks at what followed `--`.
    pub fn on(extra: &[String]) -> Self {
        let name = |arg: &String| arg.trim_start_matches('-').split('=').next().map(str::to_owned);
        let gives = |arg: &String| matches!(name(arg).as_deref(), Some("var" | "backend-config"));
        match extra {
            [] => Self::Nothing,
            extra if extra.iter().any(gives) => Self::WithValues,
            extra => Self::Sayable(
                extra.iter().fold(" --".to_owned(), |all, arg| format!("{all} {}", quoted(arg))),
            ),
        }
    }

    /// Returns a command with it, if it can be said.
    pub fn behind(&self, command: &str) -> Option<String> {
        match self {
            Self::Nothing => Some(command.to_owned()),
            Self::Sayable(words) => Some(format!("{command}{words}")),
            Self::WithValues => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_on_is_said_again_unless_it_gives_values() {
        let on = |extra: &[&str]| {
            let extra: Vec<String> = extra.iter().map(|arg| (*arg).to_owned()).collect();
            PassedArguments::on(&extra).behind("infra apply a")
        };

        assert_eq!(on(&[]).as_deref(), Some("infra apply a"));
        assert_eq!(
            on(&["-target=a.b[\"c d\"]", "-var-file", "f"]).as_deref(),
            Some("infra apply a -- '-target=a.b[\"c d\"]' -var-file f")
        );
        assert_eq!(on(&["-refresh=false", "-var", "token=x"]), None);
        assert_eq!(on(&["--var=token=x"]), None);
    }
}
