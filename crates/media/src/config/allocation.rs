//! Allocation of pages to dies and planes.

/// A level of the hierarchy that a page's address on the drive consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// A channel of the drive.
    Channel,
    /// A way: a chip (chip enable) of its channel.
    Way,
    /// A die of its chip.
    Die,
    /// A plane of its die.
    Plane,
}

/// The four levels in the order in which successive pages go through them: the first changes with every page, the next
/// when the first has had its turn, and so on. `CWDP` is channel, way, die, plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order(pub [Level; 4]);

impl Order {
    /// Channel first, then way, die and plane.
    pub const CWDP: Self = Self([Level::Channel, Level::Way, Level::Die, Level::Plane]);

    /// The order given by four letters: each of `C`, `W`, `D` and `P` once. Returns `None` for other letters.
    #[must_use]
    pub fn of(letters: &str) -> Option<Self> {
        let level = |letter| match letter {
            'C' => Some(Level::Channel),
            'W' => Some(Level::Way),
            'D' => Some(Level::Die),
            'P' => Some(Level::Plane),
            _ => None,
        };
        let levels: [Level; 4] = letters.chars().map(level).collect::<Option<Vec<_>>>()?.try_into().ok()?;
        let is_new = |at: usize| !levels[..at].contains(&levels[at]);
        (0..4).all(is_new).then_some(Self(levels))
    }
}

/// Policy for the die and plane that a page is written to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Allocation {
    /// Dynamic, by dies: a program fills a page of every plane of a die, and goes to the next die that takes it,
    /// channel first.
    #[default]
    Dies,
    /// Dynamic, by planes: each plane has blocks of its own, and a page goes to the next plane that takes it, channel
    /// first. Pages that wait for several planes of a die are programmed at once.
    Planes,
    /// Static: the address determines the plane of a page; each plane has blocks of its own.
    Address(Order),
}

impl Allocation {
    /// Whether each plane has blocks of its own.
    #[must_use]
    pub const fn by_planes(self) -> bool {
        !matches!(self, Self::Dies)
    }
    /// The order in which planes are numbered.
    #[must_use]
    pub const fn order(self) -> Order {
        match self {
            Self::Address(order) => order,
            Self::Dies | Self::Planes => Order::CWDP,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_each_level_once() {
        use Level::{Channel, Die, Plane, Way};
        assert_eq!(Order::of("CWDP"), Some(Order::CWDP));
        assert_eq!(Order::of("PDWC"), Some(Order([Plane, Die, Way, Channel])));
        for wrong in ["", "CWD", "CWDD", "CWDPC", "cwdp", "CWDX"] {
            assert_eq!(Order::of(wrong), None, "{wrong}");
        }
    }
}
