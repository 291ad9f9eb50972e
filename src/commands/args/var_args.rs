//! `--var` and `--var-file`: variables for one run, kept in the order in which they were written.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint, value_parser};

use crate::engine::GivenItem;

const VAR: &str = "var";
const VAR_FILE: &str = "var_file";

/// What the command line gives to variables.
#[derive(Clone, Debug, Default)]
pub struct VarArgs {
    /// In order: what comes later wins.
    pub items: Vec<GivenItem>,
}

impl Args for VarArgs {
    fn augment_args(command: Command) -> Command {
        let var = Arg::new(VAR).long("var").value_name("NAME=VALUE").value_parser(assignment);
        let file =
            Arg::new(VAR_FILE).long("var-file").value_name("FILE").value_parser(value_parser!(PathBuf));
        command.arg(var.action(ArgAction::Append).help("Set a variable for this run")).arg(
            file.action(ArgAction::Append)
                .value_hint(ValueHint::FilePath)
                .help("Take variables from this file, for this run; none is guessed then"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for VarArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found: Vec<(usize, GivenItem)> = Vec::new();
        let values = matches.get_many::<(String, String)>(VAR).into_iter().flatten();
        for (place, (name, text)) in places(matches, VAR).zip(values) {
            found.push((place, GivenItem::Value { name: name.clone(), text: text.clone() }));
        }
        let files = matches.get_many::<PathBuf>(VAR_FILE).into_iter().flatten();
        found.extend(places(matches, VAR_FILE).zip(files.cloned().map(GivenItem::File)));
        found.sort_by_key(|(place, _)| *place);
        Ok(Self { items: found.into_iter().map(|(_, item)| item).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn places<'a>(matches: &'a ArgMatches, name: &str) -> impl Iterator<Item = usize> + use<'a> {
    matches.indices_of(name).into_iter().flatten()
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && name.trim() == name => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected NAME=VALUE, such as `region=eu-1`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_command_line_is_kept() {
        let command = VarArgs::augment_args(Command::default());
        let line = ["x", "--var", "a=1=2", "--var-file=f", "--var", "b="];
        let matches = command.clone().try_get_matches_from(line).expect("a command line");
        let items = VarArgs::from_arg_matches(&matches).expect("variables").items;

        let value =
            |name: &str, text: &str| GivenItem::Value { name: name.to_owned(), text: text.to_owned() };
        assert_eq!(items, [value("a", "1=2"), GivenItem::File("f".into()), value("b", "")]);
        assert!(command.try_get_matches_from(["x", "--var", "broken"]).is_err());
    }
}
