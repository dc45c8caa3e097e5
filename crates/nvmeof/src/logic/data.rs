//! Data of a command: its bytes, or only how many there are.
//!
//! Where bytes are needed they are there: a real target, a drive that stores. Where only time counts nobody keeps them,
//! and the same code moves lengths.

/// Data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Data {
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many bytes that nobody keeps.
    Length(u32),
}

impl Data {
    /// No data.
    pub const NONE: Self = Self::Length(0);

    /// How many bytes they are.
    #[must_use]
    pub fn len(&self) -> u32 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u32,
            Self::Length(length) => *length,
        }
    }
    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The bytes, if they are kept.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Length(0) => Some(&[]),
            Self::Length(_) => None,
        }
    }
    /// So many of them from an offset on; fewer if there are not so many.
    #[must_use]
    pub fn slice(&self, offset: u32, length: u32) -> Self {
        let from = offset.min(self.len());
        let to = offset.saturating_add(length).min(self.len());
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes[from as usize..to as usize].to_vec()),
            Self::Length(_) => Self::Length(to - from),
        }
    }
    /// Adds others at the end. Bytes that are not kept make the whole not kept.
    pub fn append(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        match (&mut *self, other) {
            (_, other) if other.is_empty() => {}
            (Self::Bytes(bytes), Self::Bytes(more)) => bytes.extend_from_slice(&more),
            (_, other) => *self = Self::Length(self.len().saturating_add(other.len())),
        }
    }
    /// Removes the first so many, and gives them; all if there are not so many.
    #[must_use]
    pub fn split_front(&mut self, length: u32) -> Self {
        let length = length.min(self.len());
        match self {
            Self::Bytes(bytes) => {
                let behind = bytes.split_off(length as usize);
                Self::Bytes(core::mem::replace(bytes, behind))
            }
            Self::Length(all) => {
                *all -= length;
                Self::Length(length)
            }
        }
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_cut_and_joined_by_length_whether_kept_or_not() {
        let mut kept = Data::from(vec![1, 2, 3, 4]);
        assert_eq!(kept.slice(1, 2), Data::from(vec![2, 3]));
        assert_eq!((kept.slice(3, 9).len(), kept.slice(9, 1).len()), (1, 0));
        assert_eq!(kept.split_front(1), Data::from(vec![1]));
        kept.append(Data::from(vec![5]));
        assert_eq!(kept.bytes(), Some(&[2, 3, 4, 5][..]));
        kept.append(Data::NONE);
        assert!(kept.bytes().is_some());
        kept.append(Data::Length(2));
        assert_eq!((kept.len(), kept.bytes()), (6, None));
        assert_eq!((kept.split_front(4), kept), (Data::Length(4), Data::Length(2)));
    }
}
