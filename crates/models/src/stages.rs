//! The names of the stages that a device marks.

/// Concatenates lists of names.
pub(crate) fn names(lists: &[&[&str]]) -> Vec<String> {
    lists.concat().into_iter().map(Into::into).collect()
}
