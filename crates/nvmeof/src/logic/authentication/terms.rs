//! Permitted hashes and groups, and the secrets of hosts and subsystems.

use super::{Group, Hash, Secret};

/// Hashes and groups that may be used, the preferred one first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Hashes.
    pub hashes: Vec<Hash>,
    /// Groups.
    pub groups: Vec<Group>,
}

impl Terms {
    /// All hashes and groups, the smallest first, as a host offers them.
    #[must_use]
    pub fn all() -> Self {
        Self { hashes: Hash::ALL.to_vec(), groups: Group::ALL.to_vec() }
    }
    /// Default of a controller: a Diffie-Hellman exchange of 2048 or 3072 bits, which takes a processor some
    /// milliseconds.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            hashes: vec![Hash::Sha256, Hash::Sha384, Hash::Sha512],
            groups: vec![Group::Ffdhe2048, Group::Ffdhe3072],
        }
    }
}

/// The secrets of a host and of the subsystem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keys {
    /// Secret with which the host authenticates.
    pub host: Secret,
    /// Secret with which the subsystem authenticates, if the host requires it.
    pub subsystem: Option<Secret>,
}

/// Hosts that a subsystem admits, with their secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Hashes and groups that may be used.
    pub terms: Terms,
    /// Hosts by NQN; the first with a name is used.
    pub hosts: Vec<(String, Keys)>,
}

impl Ring {
    /// The secrets of a host; `None` if it is not admitted.
    #[must_use]
    pub fn keys(&self, nqn: &str) -> Option<&Keys> {
        self.hosts.iter().find(|(name, _)| name == nqn).map(|(_, keys)| keys)
    }
}
