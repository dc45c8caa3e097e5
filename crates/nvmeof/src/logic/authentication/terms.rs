//! Who authenticates with what.

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
    /// Whatever there is, the smallest first: what a host offers.
    #[must_use]
    pub fn all() -> Self {
        Self { hashes: Hash::ALL.to_vec(), groups: Group::ALL.to_vec() }
    }
    /// What a controller takes by default: a Diffie-Hellman exchange of 2048 or 3072 bits, which takes a processor some
    /// milliseconds.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            hashes: vec![Hash::Sha256, Hash::Sha384, Hash::Sha512],
            groups: vec![Group::Ffdhe2048, Group::Ffdhe3072],
        }
    }
}

/// The secrets of a host and of the subsystem that it knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keys {
    /// With which the host authenticates.
    pub host: Secret,
    /// With which the subsystem does, where the host asks for it.
    pub subsystem: Option<Secret>,
}

/// Whom a subsystem admits, and with which secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Hashes and groups that may be used.
    pub terms: Terms,
    /// Hosts by their NQN, the first of a name counts.
    pub hosts: Vec<(String, Keys)>,
}

impl Ring {
    /// The secrets of a host; none if it is not admitted.
    #[must_use]
    pub fn keys(&self, nqn: &str) -> Option<&Keys> {
        self.hosts.iter().find(|(name, _)| name == nqn).map(|(_, keys)| keys)
    }
}
