//! Where the files may be that a document names: one that somebody sent reads nothing else of whoever opens it.

use std::path::{Component, Path, PathBuf};

/// Where the files may be that a document names.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Reach {
    /// Anywhere: a person has named the document, and says so.
    #[default]
    Anywhere,
    /// In this folder and below.
    Below(PathBuf),
}

/// A file lies out of reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it lies outside of the folder of the scenario; to read it all the same, run with `--outside`")]
pub struct OutOfReach;

impl Reach {
    /// Whether a path is within reach, whatever links are on the way; of what is not there, whether it would be.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, path: &Path) -> Result<(), OutOfReach> {
        match self {
            Self::Below(folder) if !is_within(folder, path) => Err(OutOfReach),
            _ => Ok(()),
        }
    }
}

fn is_within(folder: &Path, path: &Path) -> bool {
    let real = |path: &Path| if path.as_os_str().is_empty() { Path::new(".") } else { path }.canonicalize();
    match (real(folder), real(path)) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        _ => path.strip_prefix(folder).is_ok_and(|name| {
            name.components().all(|step| matches!(step, Component::Normal(_) | Component::CurDir))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_judged_by_its_name() {
        let reach = Reach::Below("nowhere/at/all".into());
        assert_eq!(reach.check(Path::new("nowhere/at/all/x/y.s4p")), Ok(()));
        assert_eq!(reach.check(Path::new("nowhere/at/all/../x.s4p")), Err(OutOfReach));
        assert_eq!(reach.check(Path::new("/dev/null")), Err(OutOfReach));
        assert_eq!(Reach::Anywhere.check(Path::new("/dev/null")), Ok(()));
    }
}
