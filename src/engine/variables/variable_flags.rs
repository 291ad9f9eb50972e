//! The arguments after `--` as flags of tofu, and which of them give values to variables.

/// A flag of tofu with its value.
#[derive(Debug)]
pub(super) struct Flag<'a> {
    /// Its name without dashes; empty for what is no flag.
    pub name: &'a str,
    /// Its value; empty if it has none.
    pub value: &'a str,
    /// The arguments as they were written: one, or two where the value stands apart.
    words: Vec<&'a str>,
}

impl Flag<'_> {
    fn gives_variables(&self) -> bool {
        ["var", "var-file"].contains(&self.name)
    }
}

/// Returns arguments as flags; the value of a flag of variables may be an argument of its own.
pub fn flags(extra: &[String]) -> Vec<Flag<'_>> {
    let mut found = Vec::new();
    let mut rest = extra.iter().map(String::as_str);
    while let Some(arg) = rest.next() {
        let flag = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')).unwrap_or("");
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        let stands_apart = value.is_none() && ["var", "var-file"].contains(&name);
        let next = if stands_apart { rest.next() } else { None };
        let words = std::iter::once(arg).chain(next).collect();
        found.push(Flag { name, value: value.or(next).unwrap_or(""), words });
    }
    found
}

/// Returns whether arguments for tofu do nothing but give variables, so that the whole stack is meant.
pub fn only_give_variables(extra: &[String]) -> bool {
    flags(extra).iter().all(Flag::gives_variables)
}

/// Returns those arguments that give values to variables.
pub fn giving_variables(extra: &[String]) -> Vec<&str> {
    flags(extra).into_iter().filter(Flag::gives_variables).flat_map(|flag| flag.words).collect()
}

/// Returns the variable files among the arguments.
pub fn given_var_files(extra: &[String]) -> Vec<&str> {
    let files = flags(extra).into_iter().filter(|flag| flag.name == "var-file" && !flag.value.is_empty());
    files.map(|flag| flag.value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_from_other_arguments() {
        let extra = ["-target=a.b", "-var", "x=1", "-replace=c", "-var-file=f", "--var=y=2", "-variety=3"];
        let extra = extra.map(str::to_owned);

        assert_eq!(giving_variables(&extra), ["-var", "x=1", "-var-file=f", "--var=y=2"]);
        assert_eq!(given_var_files(&extra), ["f"]);
        assert!(giving_variables(&["-target=a".to_owned()]).is_empty());
    }

    #[test]
    fn what_narrows_a_run_is_more_than_variables() {
        let only = |args: &[&str]| {
            only_give_variables(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
        };

        assert!(only(&[]) && only(&["-var", "-target=x", "-var-file=y"]));
        assert!(!only(&["-var=a=b", "-target=x"]) && !only(&["-refresh=false"]));
    }
}
