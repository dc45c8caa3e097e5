//! The side of a controller: it challenges, and responds if it is challenged.
//!
//! ```text
//!   Idle ── Negotiate ─► Drawing ── drawn ─► Challenging ── given ─► Challenged ── Reply ─► Proven ── given ─┬─► Idle
//!                                                                                             C2 was asked   ▼
//!                          a message that is wrong ─► Refusing ── given ─► Over        Idle ◄── Success2 ── Confirming
//! ```
//!
//! With a group there is a power on the way to Challenging (Raising) and on that to Proven (Sharing), which whoever has
//! this side computes: it takes long. A host that has proved itself may do so again.

use super::message::{Challenge, Message, Offer, Reply};
use super::proof::{Asked, Names, Prover};
use super::{Group, Hash, Keys, Power, Random, Terms};
use crate::spec::authentication::Explanation;

/// Where a transaction is.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Stage {
    /// None is in progress.
    Idle,
    /// Randomness is awaited.
    Drawing { transaction: u16, hash: Hash, group: Group },
    /// Its public value is awaited.
    Raising(Challenged),
    /// A challenge is to be given.
    Challenging(Challenged),
    /// Its reply is awaited.
    Challenged(Challenged),
    /// The value that both have is awaited, to judge the reply by.
    Sharing(Challenged, Reply),
    /// Success1 is to be given; whether Success2 follows.
    Proven { message: Vec<u8>, transaction: u16, confirms: bool },
    /// Success2 is awaited.
    Confirming { transaction: u16 },
    /// Failure1 is to be given.
    Refusing(Vec<u8>),
    /// The connection is to be closed.
    Over,
}

/// A challenge, and the exponent of its Diffie-Hellman value.
#[derive(Clone, PartialEq, Eq)]
struct Challenged {
    challenge: Challenge,
    exponent: Vec<u8>,
}

impl core::fmt::Debug for Challenged {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Challenged").field("challenge", &self.challenge).finish_non_exhaustive()
    }
}

/// What follows a message of the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Follows {
    /// The command ends well.
    Ends,
    /// Randomness is needed: [`Controller::drawn`].
    Draw,
    /// A power is needed: [`Controller::raised`].
    Raise(Power),
    /// The command ends well, and the connection is closed: the host gives up.
    Close,
}

/// The side of a controller, of one connection.
#[derive(Clone, Debug)]
pub struct Controller {
    terms: Terms,
    keys: Keys,
    names: Names,
    stage: Stage,
    has_proof: bool,
}

impl Controller {
    /// Nobody has proved anything.
    #[must_use]
    pub const fn new(terms: Terms, keys: Keys, names: Names) -> Self {
        Self { terms, keys, names, stage: Stage::Idle, has_proof: false }
    }
    /// Whether the host has proved who it is.
    #[must_use]
    pub const fn has_proof(&self) -> bool {
        self.has_proof
    }
    /// Whether the connection is to be closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }
    /// A message has come (Authentication Send).
    pub fn take(&mut self, bytes: &[u8]) -> Follows {
        let stage = core::mem::replace(&mut self.stage, Stage::Over);
        let transaction = match &stage {
            Stage::Drawing { transaction, .. }
            | Stage::Proven { transaction, .. }
            | Stage::Confirming { transaction } => *transaction,
            Stage::Raising(Challenged { challenge, .. })
            | Stage::Challenging(Challenged { challenge, .. })
            | Stage::Challenged(Challenged { challenge, .. })
            | Stage::Sharing(Challenged { challenge, .. }, _) => challenge.transaction,
            // that of a message that is none, or is of another transaction
            Stage::Idle | Stage::Refusing(_) | Stage::Over => transaction_of(bytes),
        };
        match Message::read(bytes).and_then(|message| self.heard(stage, message)) {
            Ok(follows) => follows,
            Err(explanation) => {
                self.refuse(transaction, explanation);
                Follows::Ends
            }
        }
    }
    fn heard(&mut self, stage: Stage, message: Message) -> Result<Follows, Explanation> {
        match (stage, message) {
            (Stage::Idle, Message::Negotiate { transaction, secure_channel, offer }) => {
                if secure_channel != 0 {
                    return Err(Explanation::CONCATENATION_MISMATCH);
                }
                let offer = offer.ok_or(Explanation::PROTOCOL_UNUSABLE)?;
                let (hash, group) = self.choose(&offer)?;
                self.stage = Stage::Drawing { transaction, hash, group };
                Ok(Follows::Draw)
            }
            (Stage::Challenged(asked), Message::Reply(reply)) => {
                let Challenged { challenge: Challenge { transaction, hash, group, .. }, exponent } = &asked;
                let is_right = reply.transaction == *transaction
                    && reply.response.len() == hash.bytes()
                    && (*group != Group::Null || reply.public.is_empty());
                if !is_right {
                    return Err(Explanation::INCORRECT_PAYLOAD);
                }
                if *group == Group::Null {
                    self.prove(&asked, &reply, None)?;
                    return Ok(Follows::Ends);
                }
                let power = Power::shared(*group, exponent, reply.public.clone());
                self.stage = Stage::Sharing(asked, reply);
                Ok(Follows::Raise(power))
            }
            (Stage::Confirming { transaction }, Message::Success2 { transaction: of })
                if of == transaction =>
            {
                self.has_proof = true;
                self.stage = Stage::Idle;
                Ok(Follows::Ends)
            }
            (_, Message::Failure { is_of_host: true, .. }) => Ok(Follows::Close),
            _ => Err(Explanation::INCORRECT_MESSAGE),
        }
    }
    /// The first of ours that the host has, too.
    fn choose(&self, offer: &Offer) -> Result<(Hash, Group), Explanation> {
        let hash = self.terms.hashes.iter().find(|hash| offer.hashes.contains(&hash.id()));
        let group = self.terms.groups.iter().find(|group| offer.groups.contains(&group.id()));
        let hash = hash.ok_or(Explanation::HASH_UNUSABLE)?;
        Ok((*hash, *group.ok_or(Explanation::GROUP_UNUSABLE)?))
    }
    /// Takes a reply for the proof of the host, if it is one.
    fn prove(&mut self, asked: &Challenged, reply: &Reply, shared: Option<&[u8]>) -> Result<(), Explanation> {
        let success = self.judge(&asked.challenge, reply, shared)?;
        let (transaction, confirms) = (reply.transaction, reply.is_valid);
        // a host that wants a proof decides when it has one
        self.has_proof |= !confirms;
        self.stage = Stage::Proven { message: success.to_bytes(), transaction, confirms };
        Ok(())
    }
    /// Whether a reply proves the host, and what to answer then.
    fn judge(&self, ours: &Challenge, reply: &Reply, shared: Option<&[u8]>) -> Result<Message, Explanation> {
        let (hash, transaction) = (ours.hash, ours.transaction);
        let asked = Asked { hash, shared, challenge: &ours.challenge, sequence: ours.sequence, transaction };
        let key = self.keys.host.key(&self.names.host);
        if !asked.is_answered(Prover::Host, &key, &self.names, &reply.response) {
            return Err(Explanation::FAILED);
        }
        if !reply.is_valid {
            return Ok(Message::Success1 { transaction, response: vec![0; hash.bytes()], is_valid: false });
        }
        if reply.sequence == 0 || reply.challenge == ours.challenge {
            return Err(Explanation::INCORRECT_PAYLOAD);
        }
        let subsystem = self.keys.subsystem.as_ref().ok_or(Explanation::FAILED)?;
        let asked = Asked { challenge: &reply.challenge, sequence: reply.sequence, ..asked };
        let response = asked.response(Prover::Controller, &subsystem.key(&self.names.subsystem), &self.names);
        Ok(Message::Success1 { transaction, response, is_valid: true })
    }
    fn refuse(&mut self, transaction: u16, explanation: Explanation) {
        self.has_proof = false;
        let message = Message::Failure { is_of_host: false, transaction, explanation };
        self.stage = Stage::Refusing(message.to_bytes());
    }

    /// Randomness is here: the challenge is made, but for the power of which [`Controller::raised`] is to be told.
    #[must_use]
    pub fn drawn(&mut self, random: &Random) -> Option<Power> {
        let Stage::Drawing { transaction, hash, group } = self.stage else { return None };
        let exponent = random.exponent().to_vec();
        let challenge = Challenge {
            transaction,
            hash,
            group,
            sequence: random.sequence(),
            challenge: random.challenge(hash.bytes()),
            public: Vec::new(),
        };
        let power = (group != Group::Null).then(|| Power::public(group, &exponent));
        let asked = Challenged { challenge, exponent };
        self.stage = if power.is_some() { Stage::Raising(asked) } else { Stage::Challenging(asked) };
        power
    }
    /// The power that was wanted is here, or cannot be. Whoever has been refused meanwhile stays refused.
    pub fn raised(&mut self, value: Option<Vec<u8>>) {
        match (core::mem::replace(&mut self.stage, Stage::Over), value) {
            (Stage::Raising(mut asked), Some(public)) => {
                asked.challenge.public = public;
                self.stage = Stage::Challenging(asked);
            }
            (Stage::Sharing(asked, reply), Some(shared)) => {
                if let Err(explanation) = self.prove(&asked, &reply, Some(&shared)) {
                    self.refuse(asked.challenge.transaction, explanation);
                }
            }
            (Stage::Raising(asked) | Stage::Sharing(asked, _), None) => {
                self.refuse(asked.challenge.transaction, Explanation::INCORRECT_PAYLOAD);
            }
            (other, _) => self.stage = other,
        }
    }
    /// What the host is given, if it has room for so many bytes (Authentication Receive); none if nothing is due or
    /// there is not. A refusal that was given is the end of the connection.
    pub fn give(&mut self, room: usize) -> Option<Vec<u8>> {
        let message = match &self.stage {
            Stage::Challenging(asked) => Message::Challenge(asked.challenge.clone()).to_bytes(),
            Stage::Proven { message, .. } | Stage::Refusing(message) => message.clone(),
            _ => return None,
        };
        if message.len() > room {
            return None;
        }
        self.stage = match core::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Challenging(asked) => Stage::Challenged(asked),
            Stage::Proven { transaction, confirms: true, .. } => Stage::Confirming { transaction },
            Stage::Proven { .. } => Stage::Idle,
            _ => Stage::Over,
        };
        Some(message)
    }
}

/// T_ID, where every message has it.
fn transaction_of(bytes: &[u8]) -> u16 {
    bytes.get(4..6).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}
