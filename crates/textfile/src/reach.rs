//! Where files that a document names may be, so that a document from somebody else cannot read any file of the user.

use std::path::{Component, Path, PathBuf};

/// Where files that a document names may be.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Reach {
    /// Anywhere, as the user has permitted it.
    #[default]
    Anywhere,
    /// In this folder and below.
    Below(PathBuf),
}

/// A file is out of reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it lies outside of the folder of the scenario; to read it all the same, run with `--outside`")]
pub struct OutOfReach;

impl Reach {
    /// Checks that a path is within reach, after following symbolic links. A path that does not exist is judged by its
    /// text.
    ///
    /// # Errors
    /// If it is out of reach.
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
