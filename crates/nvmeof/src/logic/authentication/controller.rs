//! The controller's side: it challenges, and responds if it is challenged.
//!
//! ```text
//!   Idle ── Negotiate ─► Drawing ── drawn ─► Challenging ── given ─► Challenged ── Reply ─► Proven ── given ─┬─► Idle
//!                                                                                             C2 was asked   ▼
//!                          a message that is wrong ─► Refusing ── given ─► Over        Idle ◄── Success2 ── Confirming
//! ```
//!
//! With a group, the owner computes a power before Challenging (stage Raising) and before Proven (stage Sharing), as
//! that takes long. A host that has authenticated may do so again.

use super::message::{Challenge, Message, Offer, Reply};
use super::proof::{Asked, Names, Prover};
use super::{Group, Hash, Keys, Power, Random, Terms};
use crate::spec::authentication::Explanation;

/// Stage of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Stage {
    /// No transaction is in progress.
    Idle,
    /// Waits for random numbers.
    Drawing { transaction: u16, hash: Hash, group: Group },
    /// Waits for the public value of the challenge.
    Raising(Challenged),
    /// A challenge is ready for the host.
    Challenging(Challenged),
    /// Waits for the reply to the challenge.
    Challenged(Challenged),
    /// Waits for the shared value, to verify the reply.
    Sharing(Challenged, Reply),
    /// Success1 is ready for the host; `confirms` says whether Success2 follows.
    Proven { message: Vec<u8>, transaction: u16, confirms: bool },
    /// Waits for Success2.
    Confirming { transaction: u16 },
    /// Failure1 is ready for the host.
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

/// Action after a message of the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Follows {
    /// The command ends successfully.
    Ends,
    /// Draw random numbers, then call [`Controller::drawn`].
    Draw,
    /// Compute a power, then call [`Controller::raised`].
    Raise(Power),
    /// The command ends successfully and the connection is closed, as the host gives up.
    Close,
}

/// The controller's side of one connection.
#[derive(Clone, Debug)]
pub struct Controller {
    terms: Terms,
    keys: Keys,
    names: Names,
    stage: Stage,
    has_proof: bool,
}

impl Controller {
    /// A side without a transaction so far.
    #[must_use]
    pub const fn new(terms: Terms, keys: Keys, names: Names) -> Self {
        Self { terms, keys, names, stage: Stage::Idle, has_proof: false }
    }
    /// Whether the host has authenticated.
    #[must_use]
    pub const fn has_proof(&self) -> bool {
        self.has_proof
    }
    /// Whether the connection is to be closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }
    /// Takes a message of the host (Authentication Send).
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
            // the T_ID of an invalid message, or one of another transaction
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
    /// Chooses the first hash and group of this side that the host also supports.
    fn choose(&self, offer: &Offer) -> Result<(Hash, Group), Explanation> {
        let hash = self.terms.hashes.iter().find(|hash| offer.hashes.contains(&hash.id()));
        let group = self.terms.groups.iter().find(|group| offer.groups.contains(&group.id()));
        let hash = hash.ok_or(Explanation::HASH_UNUSABLE)?;
        Ok((*hash, *group.ok_or(Explanation::GROUP_UNUSABLE)?))
    }
    /// Verifies a reply and prepares Success1.
    fn prove(&mut self, asked: &Challenged, reply: &Reply, shared: Option<&[u8]>) -> Result<(), Explanation> {
        let success = self.judge(&asked.challenge, reply, shared)?;
        let (transaction, confirms) = (reply.transaction, reply.is_valid);
        // a host that challenged the controller decides after its response
        self.has_proof |= !confirms;
        self.stage = Stage::Proven { message: success.to_bytes(), transaction, confirms };
        Ok(())
    }
    /// Verifies a reply, and returns the Success1 message to be sent.
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

    /// Takes the random numbers and makes the challenge. Returns the power, if any, whose value must be passed to
    /// [`Controller::raised`].
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
    /// Takes the requested power; `None` if it cannot be computed. A host refused in the meantime remains refused.
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
    /// Message for a host with a buffer of `room` bytes (Authentication Receive); `None` if no message is ready or it
    /// does not fit. A refusal ends the connection.
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

/// T_ID, which has the same offset in all messages.
fn transaction_of(bytes: &[u8]) -> u16 {
    bytes.get(4..6).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}
