//! The names of the stages that a device marks.

/// Those of several lists, one behind the other.
pub(crate) fn names(lists: &[&[&str]]) -> Vec<String> {
    lists.concat().into_iter().map(Into::into).collect()
}
