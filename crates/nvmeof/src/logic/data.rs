//! Data of a command: its bytes, or only their number.
//!
//! A real target, or a drive that stores data, needs the bytes. Where only time matters they are not stored, and the
//! same code moves lengths.

/// Data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Data {
    /// Bytes.
    Bytes(Vec<u8>),
    /// A number of bytes that are not stored.
    Length(u32),
}

impl Data {
    /// No data.
    pub const NONE: Self = Self::Length(0);

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> u32 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u32,
            Self::Length(length) => *length,
        }
    }
    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The bytes; `None` if they are not stored.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Length(0) => Some(&[]),
            Self::Length(_) => None,
        }
    }
    /// Up to `length` bytes from an offset on; fewer if the data end before.
    #[must_use]
    pub fn slice(&self, offset: u32, length: u32) -> Self {
        let from = offset.min(self.len());
        let to = offset.saturating_add(length).min(self.len());
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes[from as usize..to as usize].to_vec()),
            Self::Length(_) => Self::Length(to - from),
        }
    }
    /// Appends other data. If one of the two is only a length, so is the result.
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
    /// Removes and returns the first `length` bytes; all if there are fewer.
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
