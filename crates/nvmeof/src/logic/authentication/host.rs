//! The host's side: it offers hashes and groups, responds, and challenges the controller if the subsystem must
//! authenticate too.

use super::message::{Challenge, Message, Offer, Reply};
use super::proof::{Asked, Names, Prover};
use super::{Group, Keys, Random, Terms};
use crate::spec::authentication::Explanation;

/// Next step of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Send a message (Authentication Send), then call [`Host::sent`].
    Send(Vec<u8>),
    /// Receive a message (Authentication Receive), then call [`Host::take`].
    Receive,
    /// Draw random numbers, then call [`Host::drawn`].
    Draw,
    /// Both sides have authenticated as required.
    Done,
    /// The transaction has failed, at this side or as reported by the controller.
    Failed(Explanation),
}

/// Stage of the transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Stage {
    Idle,
    Negotiating,
    Drawing(Challenge),
    /// The reply has been sent; holds the response expected from the controller, if it was challenged.
    Replied(Option<Vec<u8>>),
    Confirming,
    Failing(Explanation),
    Over,
}

/// The host's side of one connection.
#[derive(Clone, Debug)]
pub struct Host {
    terms: Terms,
    keys: Keys,
    names: Names,
    transaction: u16,
    stage: Stage,
}

impl Host {
    /// A transaction with this identifier that has not begun.
    #[must_use]
    pub const fn new(terms: Terms, keys: Keys, names: Names, transaction: u16) -> Self {
        Self { terms, keys, names, transaction, stage: Stage::Idle }
    }
    /// Whether the subsystem has to authenticate too.
    #[must_use]
    pub const fn wants_proof(&self) -> bool {
        self.keys.subsystem.is_some()
    }
    /// Whether a transaction has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.stage != Stage::Idle
    }
    /// Begins the transaction.
    pub fn begin(&mut self) -> Step {
        self.stage = Stage::Negotiating;
        let offer = Offer {
            hashes: self.terms.hashes.iter().map(|hash| hash.id()).collect(),
            groups: self.terms.groups.iter().map(|group| group.id()).collect(),
        };
        let message =
            Message::Negotiate { transaction: self.transaction, secure_channel: 0, offer: Some(offer) };
        Step::Send(message.to_bytes())
    }
    /// A message has been sent.
    pub fn sent(&mut self) -> Step {
        match self.stage {
            Stage::Negotiating | Stage::Replied(_) => Step::Receive,
            Stage::Confirming => {
                self.stage = Stage::Over;
                Step::Done
            }
            Stage::Failing(explanation) => {
                self.stage = Stage::Over;
                Step::Failed(explanation)
            }
            Stage::Idle | Stage::Drawing(_) | Stage::Over => Step::Failed(Explanation::INCORRECT_MESSAGE),
        }
    }
    /// A message has been received.
    pub fn take(&mut self, bytes: &[u8]) -> Step {
        let stage = core::mem::replace(&mut self.stage, Stage::Over);
        match Message::read(bytes) {
            Ok(Message::Failure { is_of_host: false, explanation, .. }) => Step::Failed(explanation),
            Ok(message) => self.heard(stage, message).unwrap_or_else(|why| self.give_up(why)),
            Err(why) => self.give_up(why),
        }
    }
    fn heard(&mut self, stage: Stage, message: Message) -> Result<Step, Explanation> {
        match (stage, message) {
            (Stage::Negotiating, Message::Challenge(asked)) => {
                if asked.transaction != self.transaction {
                    return Err(Explanation::INCORRECT_PAYLOAD);
                }
                if !self.terms.hashes.contains(&asked.hash) {
                    return Err(Explanation::HASH_UNUSABLE);
                }
                if !self.terms.groups.contains(&asked.group) {
                    return Err(Explanation::GROUP_UNUSABLE);
                }
                self.stage = Stage::Drawing(asked);
                Ok(Step::Draw)
            }
            (Stage::Replied(expected), Message::Success1 { transaction, response, is_valid }) => {
                if transaction != self.transaction {
                    return Err(Explanation::INCORRECT_PAYLOAD);
                }
                let Some(expected) = expected else { return Ok(Step::Done) };
                // the expected response has not been sent to anyone, so the duration of this comparison is no leak
                if !is_valid || response != expected {
                    return Err(Explanation::FAILED);
                }
                self.stage = Stage::Confirming;
                Ok(Step::Send(Message::Success2 { transaction }.to_bytes()))
            }
            _ => Err(Explanation::INCORRECT_MESSAGE),
        }
    }
    /// Takes the random numbers, and computes the reply.
    pub fn drawn(&mut self, random: &Random) -> Step {
        let stage = core::mem::replace(&mut self.stage, Stage::Over);
        let Stage::Drawing(asked) = stage else { return self.give_up(Explanation::INCORRECT_MESSAGE) };
        self.reply(&asked, random).unwrap_or_else(|why| self.give_up(why))
    }
    fn reply(&mut self, asked: &Challenge, random: &Random) -> Result<Step, Explanation> {
        let (hash, transaction) = (asked.hash, self.transaction);
        let (shared, public) = match asked.group {
            Group::Null => (None, Vec::new()),
            group => {
                let shared = group.shared(random.exponent(), &asked.public);
                (Some(shared.ok_or(Explanation::INCORRECT_PAYLOAD)?), group.public(random.exponent()))
            }
        };
        let shared = shared.as_deref();
        let theirs =
            Asked { hash, shared, challenge: &asked.challenge, sequence: asked.sequence, transaction };
        let response = theirs.response(Prover::Host, &self.keys.host.key(&self.names.host), &self.names);
        let mut reply = Reply {
            transaction,
            response,
            challenge: vec![0; hash.bytes()],
            is_valid: false,
            sequence: 0,
            public,
        };
        let expected = self.keys.subsystem.as_ref().map(|secret| {
            reply.challenge = random.challenge(hash.bytes());
            (reply.is_valid, reply.sequence) = (true, random.sequence());
            let ours = Asked { challenge: &reply.challenge, sequence: reply.sequence, ..theirs };
            ours.response(Prover::Controller, &secret.key(&self.names.subsystem), &self.names)
        });
        self.stage = Stage::Replied(expected);
        Ok(Step::Send(Message::Reply(reply).to_bytes()))
    }
    fn give_up(&mut self, explanation: Explanation) -> Step {
        self.stage = Stage::Failing(explanation);
        let message = Message::Failure { is_of_host: true, transaction: self.transaction, explanation };
        Step::Send(message.to_bytes())
    }
}
