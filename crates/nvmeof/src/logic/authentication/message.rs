//! Encoding and decoding of messages (Base 2.0 §8.13.5, §8.13.4). Bytes after a message are ignored, as buffers are
//! longer.

use super::{Group, Hash};
use crate::spec::authentication::{
    ChallengeHead, DESCRIPTOR_BYTES, DH_HMAC_CHAP, Descriptor, Explanation, Failed, GroupId, HEAD_BYTES,
    HashId, MOST_IDENTIFIERS, MessageKind, NegotiateHead, ReplyHead, SHORT_HEAD_BYTES, Success1Head,
    Success2, Validity,
};

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// AUTH_Negotiate.
    Negotiate {
        /// T_ID.
        transaction: u16,
        /// SC_C.
        secure_channel: u8,
        /// Hashes and groups of DH-HMAC-CHAP; `None` if the host does not support it.
        offer: Option<Offer>,
    },
    /// DH-HMAC-CHAP_Challenge.
    Challenge(Challenge),
    /// DH-HMAC-CHAP_Reply.
    Reply(Reply),
    /// DH-HMAC-CHAP_Success1.
    Success1 {
        /// T_ID.
        transaction: u16,
        /// The controller's response, or zeroes of the same length.
        response: Vec<u8>,
        /// Whether it is a response (RVALID).
        is_valid: bool,
    },
    /// DH-HMAC-CHAP_Success2.
    Success2 {
        /// T_ID.
        transaction: u16,
    },
    /// AUTH_Failure1 of a controller, AUTH_Failure2 of a host.
    Failure {
        /// Whether it is of a host.
        is_of_host: bool,
        /// T_ID.
        transaction: u16,
        /// Reason.
        explanation: Explanation,
    },
}

/// Hashes and groups that a host supports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Identifiers of hashes.
    pub hashes: Vec<HashId>,
    /// Identifiers of groups.
    pub groups: Vec<GroupId>,
}

/// DH-HMAC-CHAP_Challenge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// T_ID.
    pub transaction: u16,
    /// The hash that is used.
    pub hash: Hash,
    /// The group that is used.
    pub group: Group,
    /// S1.
    pub sequence: u32,
    /// C1.
    pub challenge: Vec<u8>,
    /// g^y.
    pub public: Vec<u8>,
}

/// DH-HMAC-CHAP_Reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// T_ID.
    pub transaction: u16,
    /// R1.
    pub response: Vec<u8>,
    /// C2, or zeroes of the same length.
    pub challenge: Vec<u8>,
    /// Whether it is a challenge (CVALID).
    pub is_valid: bool,
    /// S2.
    pub sequence: u32,
    /// g^x.
    pub public: Vec<u8>,
}

impl Message {
    /// Decodes a message.
    ///
    /// # Errors
    /// The explanation for the sender: the message type is unknown, or its content does not match its header.
    pub fn read(bytes: &[u8]) -> Result<Self, Explanation> {
        let kind = bytes.first_chunk::<2>().ok_or(Explanation::INCORRECT_PAYLOAD)?;
        match MessageKind(u16::from_le_bytes(*kind)) {
            MessageKind::NEGOTIATE => negotiate(bytes),
            MessageKind::CHALLENGE => challenge(bytes),
            MessageKind::REPLY => reply(bytes),
            MessageKind::SUCCESS1 => success(bytes),
            MessageKind::SUCCESS2 => {
                let head = Success2::from_bytes(*head::<HEAD_BYTES>(bytes)?.0);
                Ok(Self::Success2 { transaction: head.transaction() })
            }
            kind @ (MessageKind::FAILURE1 | MessageKind::FAILURE2) => {
                let told = Failed::from_bytes(*head::<SHORT_HEAD_BYTES>(bytes)?.0);
                let is_of_host = kind == MessageKind::FAILURE2;
                let (transaction, explanation) = (told.transaction(), told.explanation());
                Ok(Self::Failure { is_of_host, transaction, explanation })
            }
            _ => Err(Explanation::INCORRECT_MESSAGE),
        }
    }
    /// Encodes the message.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Negotiate { transaction, secure_channel, offer } => {
                let mut head = NegotiateHead::ZERO;
                head.set_kind(MessageKind::NEGOTIATE);
                head.set_transaction(*transaction);
                head.set_secure_channel(*secure_channel);
                head.set_descriptors(u8::from(offer.is_some()));
                let descriptor = offer.as_ref().map_or_else(Vec::new, Offer::to_bytes);
                [head.as_bytes(), &descriptor[..]].concat()
            }
            Self::Challenge(told) => told.to_bytes(),
            Self::Reply(told) => told.to_bytes(),
            Self::Success1 { transaction, response, is_valid } => {
                let mut head = Success1Head::ZERO;
                head.set_kind(MessageKind::SUCCESS1);
                head.set_transaction(*transaction);
                head.set_hash_bytes(response.len() as u8);
                head.set_validity(Validity::from_raw(u8::from(*is_valid)));
                [head.as_bytes(), &response[..]].concat()
            }
            Self::Success2 { transaction } => {
                let mut head = Success2::ZERO;
                head.set_kind(MessageKind::SUCCESS2);
                head.set_transaction(*transaction);
                head.as_bytes().to_vec()
            }
            Self::Failure { is_of_host, transaction, explanation } => {
                let mut told = Failed::ZERO;
                told.set_kind(if *is_of_host { MessageKind::FAILURE2 } else { MessageKind::FAILURE1 });
                told.set_transaction(*transaction);
                told.set_reason(1);
                told.set_explanation(*explanation);
                told.as_bytes().to_vec()
            }
        }
    }
}

impl Offer {
    /// Encodes the descriptor.
    fn to_bytes(&self) -> Vec<u8> {
        let mut told = Descriptor::ZERO;
        told.set_protocol(DH_HMAC_CHAP);
        let (hashes, groups) =
            (self.hashes.len().min(MOST_IDENTIFIERS), self.groups.len().min(MOST_IDENTIFIERS));
        told.set_hashes(hashes as u8);
        told.set_groups(groups as u8);
        told.set_hash_list(core::array::from_fn(|at| self.hashes.get(at).map_or(0, |id| id.0)));
        told.set_group_list(core::array::from_fn(|at| self.groups.get(at).map_or(0, |id| id.0)));
        told.as_bytes().to_vec()
    }
}

impl Challenge {
    fn to_bytes(&self) -> Vec<u8> {
        let mut head = ChallengeHead::ZERO;
        head.set_kind(MessageKind::CHALLENGE);
        head.set_transaction(self.transaction);
        head.set_hash_bytes(self.challenge.len() as u8);
        head.set_hash(self.hash.id());
        head.set_group(self.group.id());
        head.set_public_bytes(self.public.len() as u16);
        head.set_sequence(self.sequence);
        [head.as_bytes(), &self.challenge[..], &self.public].concat()
    }
}

impl Reply {
    fn to_bytes(&self) -> Vec<u8> {
        let mut head = ReplyHead::ZERO;
        head.set_kind(MessageKind::REPLY);
        head.set_transaction(self.transaction);
        head.set_hash_bytes(self.response.len() as u8);
        head.set_validity(Validity::from_raw(u8::from(self.is_valid)));
        head.set_public_bytes(self.public.len() as u16);
        head.set_sequence(self.sequence);
        [head.as_bytes(), &self.response[..], &self.challenge, &self.public].concat()
    }
}

/// Splits off the first `N` bytes.
fn head<const N: usize>(bytes: &[u8]) -> Result<(&[u8; N], &[u8]), Explanation> {
    bytes.split_first_chunk().ok_or(Explanation::INCORRECT_PAYLOAD)
}
/// Splits off the first `length` bytes.
fn part(bytes: &[u8], length: usize) -> Result<(Vec<u8>, &[u8]), Explanation> {
    let (part, rest) = bytes.split_at_checked(length).ok_or(Explanation::INCORRECT_PAYLOAD)?;
    Ok((part.to_vec(), rest))
}

fn negotiate(bytes: &[u8]) -> Result<Message, Explanation> {
    let (first, mut rest) = head(bytes)?;
    let told = NegotiateHead::from_bytes(*first);
    let mut offer = None;
    for _ in 0..told.descriptors() {
        let (descriptor, behind) = head::<DESCRIPTOR_BYTES>(rest)?;
        rest = behind;
        let known = Descriptor::from_bytes(*descriptor);
        if known.protocol() != DH_HMAC_CHAP || offer.is_some() {
            continue;
        }
        let (hashes, groups) = (usize::from(known.hashes()), usize::from(known.groups()));
        if hashes > MOST_IDENTIFIERS || groups > MOST_IDENTIFIERS {
            return Err(Explanation::INCORRECT_PAYLOAD);
        }
        let hashes = known.hash_list()[..hashes].iter().map(|&id| HashId(id)).collect();
        let groups = known.group_list()[..groups].iter().map(|&id| GroupId(id)).collect();
        offer = Some(Offer { hashes, groups });
    }
    let (transaction, secure_channel) = (told.transaction(), told.secure_channel());
    Ok(Message::Negotiate { transaction, secure_channel, offer })
}

fn challenge(bytes: &[u8]) -> Result<Message, Explanation> {
    let (first, rest) = head(bytes)?;
    let told = ChallengeHead::from_bytes(*first);
    let hash = Hash::of(told.hash()).ok_or(Explanation::HASH_UNUSABLE)?;
    let group = Group::of(told.group()).ok_or(Explanation::GROUP_UNUSABLE)?;
    let lengths = (usize::from(told.hash_bytes()), usize::from(told.public_bytes()));
    if lengths != (hash.bytes(), group.bytes()) {
        return Err(Explanation::INCORRECT_PAYLOAD);
    }
    let (challenge, rest) = part(rest, lengths.0)?;
    let (public, _) = part(rest, lengths.1)?;
    let (transaction, sequence) = (told.transaction(), told.sequence());
    Ok(Message::Challenge(Challenge { transaction, hash, group, sequence, challenge, public }))
}

fn reply(bytes: &[u8]) -> Result<Message, Explanation> {
    let (first, rest) = head(bytes)?;
    let told = ReplyHead::from_bytes(*first);
    let length = usize::from(told.hash_bytes());
    let (response, rest) = part(rest, length)?;
    let (challenge, rest) = part(rest, length)?;
    let (public, _) = part(rest, told.public_bytes().into())?;
    Ok(Message::Reply(Reply {
        transaction: told.transaction(),
        response,
        challenge,
        is_valid: told.validity().is_valid(),
        sequence: told.sequence(),
        public,
    }))
}

fn success(bytes: &[u8]) -> Result<Message, Explanation> {
    let (first, rest) = head(bytes)?;
    let told = Success1Head::from_bytes(*first);
    let is_valid = told.validity().is_valid();
    // without a valid response, no bytes need follow
    let length = if is_valid { usize::from(told.hash_bytes()) } else { 0 };
    let (response, _) = part(rest, length)?;
    Ok(Message::Success1 { transaction: told.transaction(), response, is_valid })
}
