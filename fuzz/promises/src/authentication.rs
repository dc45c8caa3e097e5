//! DH-HMAC-CHAP: any bytes are a message or none, and a secret or none; whatever is done to messages on their way, no
//! side panics, and none takes the other for who it is unless both know the secrets.

use crate::input::{All, Piece};
use arbitrary::Arbitrary;
use lanetwin_nvmeof::logic::authentication::controller::{Controller, Follows};
use lanetwin_nvmeof::logic::authentication::host::{Host, Step};
use lanetwin_nvmeof::logic::authentication::message::Message;
use lanetwin_nvmeof::logic::authentication::proof::Names;
use lanetwin_nvmeof::logic::authentication::{Group, Hash, Keys, RANDOM_BYTES, Random, Secret, Terms};

/// What is done to the next message.
#[derive(Arbitrary, Debug)]
enum Act {
    Nothing,
    Change { at: u16, to: u8 },
    Cut(u16),
    Other(Piece),
    Repeat,
}

fn secret(byte: u8) -> Secret {
    Secret::new(vec![byte; 32], None).expect("32 bytes")
}
fn random(seed: u8) -> Random {
    Random(core::array::from_fn::<_, RANDOM_BYTES, _>(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)))
}
/// The message as it comes.
fn done_to(message: Vec<u8>, act: Option<Act>, before: &mut Vec<u8>) -> Vec<u8> {
    let mut come = message.clone();
    match act {
        None | Some(Act::Nothing) => {}
        Some(Act::Change { at, to }) => {
            if let Some(byte) = come.get_mut(usize::from(at)) {
                *byte = to;
            }
        }
        Some(Act::Cut(length)) => come.truncate(length.into()),
        Some(Act::Other(Piece(bytes))) => come = bytes,
        Some(Act::Repeat) => come.clone_from(before),
    }
    *before = message;
    come
}

crate::input::promise!(|input: ([bool; 3], Piece, All<Act>)| {
    let ([knows, wants, has_group], Piece(bytes), All(acts)) = input;
    if let Ok(message) = Message::read(&bytes) {
        assert_eq!(Message::read(&message.to_bytes()), Ok(message));
    }
    if let Some(secret) = core::str::from_utf8(&bytes).ok().and_then(|text| Secret::parse(text).ok()) {
        assert_eq!(Secret::parse(&secret.to_text()), Ok(secret));
    }
    let group = if has_group { Group::Ffdhe2048 } else { Group::Null };
    let terms = Terms { hashes: vec![Hash::Sha256], groups: vec![group] };
    let names = Names { host: "nqn.host".into(), subsystem: "nqn.drive".into() };
    let theirs = Keys { host: secret(1), subsystem: Some(secret(2)) };
    let ours = Keys { host: secret(if knows { 1 } else { 3 }), subsystem: wants.then(|| secret(2)) };
    let mut controller = Controller::new(terms.clone(), theirs, names.clone());
    let mut host = Host::new(terms, ours, names, 7);
    let (mut step, mut acts, mut before) = (host.begin(), acts.into_iter(), Vec::new());
    let mut untouched = true;
    for _ in 0..12 {
        let act = acts.next();
        untouched &= matches!(act, None | Some(Act::Nothing));
        step = match step {
            Step::Send(message) => {
                let power = match controller.take(&done_to(message, act, &mut before)) {
                    Follows::Draw => controller.drawn(&random(1)),
                    Follows::Raise(power) => Some(power),
                    Follows::Ends | Follows::Close => None,
                };
                power.into_iter().for_each(|power| controller.raised(power.compute()));
                host.sent()
            }
            Step::Receive => match controller.give(4096) {
                Some(message) => host.take(&done_to(message, act, &mut before)),
                None => break,
            },
            Step::Draw => host.drawn(&random(2)),
            Step::Done => {
                assert!(knows || !controller.has_proof());
                break;
            }
            Step::Failed(_) => break,
        };
    }
    assert!(knows || !controller.has_proof(), "who does not know the secret has proved that it does");
    assert!(!(untouched && knows) || controller.has_proof());
});
