//! What files held at the base, for those paths where somebody has to read it. All of them are one
//! question to git; what a partial clone lacks is told with the way to get it. Begin at [`fill`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::process::{Difference, FileKind, Git};
use crate::stacks::{Before, PathChange};

/// Puts earlier contents into the changes of the wanted paths, and of all links.
pub(super) async fn fill(
    git: &Git,
    (base, differences): (&str, &[Difference]),
    changes: &mut BTreeMap<PathBuf, PathChange>,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<()> {
    let wanted = differences.iter().filter_map(|difference| {
        let (path, file) = (git.top().join(&difference.path), difference.before.as_ref()?);
        let is_read = file.kind == FileKind::Link || (file.kind != FileKind::Submodule && is_wanted(&path));
        let is_open = changes.get(&path).is_some_and(|change| change.before == Before::File(None));
        (is_read && is_open).then_some((path, file))
    });
    let wanted: Vec<_> = wanted.collect();
    let ids: Vec<&str> = wanted.iter().map(|(_, file)| file.id.as_str()).collect();
    let contents = git.contents(&ids).await.map_err(|error| or_partial(error, base))?;
    for ((path, file), content) in wanted.iter().zip(contents) {
        let content = content.ok_or_else(|| lacking(base))?;
        if let Some(change) = changes.get_mut(path) {
            change.before = match file.kind {
                FileKind::Link => Before::Link(path_of(content)),
                _ => Before::File(Some(Arc::from(content))),
            };
        }
    }
    Ok(())
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// git tries to fetch what a partial clone lacks, and is not let.
pub(super) fn or_partial(error: Error, base: &str) -> Error {
    if error.message().contains("promisor remote") { lacking(base) } else { error }
}

fn lacking(base: &str) -> Error {
    Error::unavailable("this is a partial clone, and it lacks what was there at the base")
        .hint(format!("let git fetch what is missing: `git diff --stat {base}`"))
        .hint("or clone without `--filter`")
}
