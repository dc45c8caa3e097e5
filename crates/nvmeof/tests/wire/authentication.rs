//! DH-HMAC-CHAP: messages beside bytes by hand, responses beside those of another implementation, and whatever is done
//! to messages on their way.

use lanetwin_nvmeof::logic::authentication::controller::{Controller, Follows};
use lanetwin_nvmeof::logic::authentication::host::{Host, Step};
use lanetwin_nvmeof::logic::authentication::message::{Challenge, Message, Offer, Reply};
use lanetwin_nvmeof::logic::authentication::proof::{Asked, Names, Prover};
use lanetwin_nvmeof::logic::authentication::secret::NoSecret;
use lanetwin_nvmeof::logic::authentication::{Group, Hash, Keys, Random, Secret, Terms};
use lanetwin_nvmeof::spec::authentication::{Explanation, GroupId, HashId};
use proptest::prelude::*;

/// 01 23 45 67 89 ab cd ef, again and again, as nvme-cli 2.3 writes it.
const PLAIN: &str = "DHHC-1:00:ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze/wsXcs:";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
fn names() -> Names {
    Names { host: "nqn.2026-01.test:host".into(), subsystem: "nqn.2026-01.test:drive".into() }
}
fn counting(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef][at % 8]).collect()
}

#[test]
fn secrets_are_those_of_nvme_cli() {
    let secret = Secret::parse(PLAIN).expect("a secret");
    assert_eq!((secret.to_text().as_str(), secret.key("nqn")), (PLAIN, counting(32)));
    // `nvme gen-dhchap-key -m 1 -n nqn.2026-01.test:host` of the same bytes, and -m 2, -m 3 of longer ones, writes keys
    let keys = [
        "DHHC-1:01:o8mawZCyq/9MFtXgoHUJSEnZzrlo+ko+UKLXBTZ8XQL54SPJ:",
        "DHHC-1:02:r+2lJW3giAYC+epLJZQlasmEslCnki0lbXtYJ1XNZeUfjPNaodKB3jThrZ/n9ojj0iHGag==:",
        "DHHC-1:03:rjIEdRbQF3UiDxFP5hSPwU4rSNy+gsYINtYciGJL+UiOnEWYYNq389vXQYgujFZbUdyu3iRw6QtzRZOUjXxfy+2gBdQ=:",
    ];
    for (hash, text) in Hash::ALL.into_iter().zip(keys) {
        let written = Secret::parse(text).expect("a secret");
        let ours = Secret::new(counting(hash.bytes()), Some(hash)).expect("a secret");
        assert_eq!(Secret::new(ours.key(&names().host), Some(hash)), Some(written));
        assert_eq!(Secret::parse(&ours.to_text()), Ok(ours));
    }
}

#[test]
fn what_is_no_secret_says_why() {
    for (text, why) in [
        ("", NoSecret::Form),
        ("DHHC-1:00:", NoSecret::Form),
        (PLAIN.trim_end_matches(':'), NoSecret::Form),
        (&format!("{PLAIN}:"), NoSecret::Form),
        (&PLAIN.replace(":00:", ":04:"), NoSecret::Hash),
        (&PLAIN.replace("ASN", "A?N"), NoSecret::Base64),
        (&PLAIN.replace(":00:", ":02:"), NoSecret::Length),
        ("DHHC-1:00:AAAA:", NoSecret::Length),
        (&PLAIN.replace("ASN", "BSN"), NoSecret::Checksum),
    ] {
        assert_eq!(Secret::parse(text), Err(why), "{text}");
    }
    assert_eq!(format!("{:?}", Secret::parse(PLAIN)), "Ok(Secret(32 B))");
}

/// By Python 3.11 (`hmac`, `hashlib`), from the formulas of the specification.
#[test]
fn responses_are_those_of_another_implementation() {
    let expected = [
        (
            Hash::Sha256,
            false,
            Prover::Host,
            "898ad25feacb1c9cd7d231d9fd0ef9a35ff5e1de5c69479d4609869ce77315c3",
        ),
        (
            Hash::Sha256,
            false,
            Prover::Controller,
            "c7f710831f1c346a50590dd08131b0e1c74079a4817a00fca4aa7490dd4e37f2",
        ),
        (
            Hash::Sha256,
            true,
            Prover::Host,
            "7d99002b131924e193c33cdbc12065485e80b442eddcb2302720c931c9b50594",
        ),
        (
            Hash::Sha256,
            true,
            Prover::Controller,
            "092d3286ff0f61d9034d632f499605c7bc99281a283237c0a7676d0c3d987917",
        ),
        (
            Hash::Sha384,
            true,
            Prover::Host,
            "1613da4fcd4fac7ca9d716a6b19f4147f25246e3aad723d7428b316ef95a1529c4a7aa546aba91f8ebee449e832cfa5f",
        ),
        (
            Hash::Sha384,
            false,
            Prover::Controller,
            "e71e5c3b0a9415d2f77d8388cb5736f0dad84ec730cf35358a84ef3b47375f1beaad7ffcd0d3c8344febf4bb8a62d5a0",
        ),
        (
            Hash::Sha512,
            false,
            Prover::Host,
            "478868a5fa3c93961f4568319a3780a325bb28bef5e4535390a5676da0e94dbd\
             c36abd94e266d661e0193a6a2cfa882705e31d0f0bbae28e2fa642a51d79cefa",
        ),
        (
            Hash::Sha512,
            true,
            Prover::Controller,
            "1615044a6c3741f83df56a1bb4755767ab7f74334c6807c9bab37d4cb2154438\
             13e0e96f6705383ef0d6a581e1ab33d78a3a5d8cdfb35393eff76371695728ae",
        ),
    ];
    let shared = [0, 1, 2, 3].repeat(64);
    for (hash, has_group, by, response) in expected {
        let challenge: Vec<u8> = (0..hash.bytes() as u8).collect();
        let shared = has_group.then_some(&shared[..]);
        let asked = Asked { hash, shared, challenge: &challenge, sequence: 0x0102_0304, transaction: 0x0506 };
        let names = names();
        let owner = if by == Prover::Host { &names.host } else { &names.subsystem };
        let key = Secret::new(counting(hash.bytes()), Some(hash)).expect("a secret").key(owner);
        let said = asked.response(by, &key, &names);
        assert_eq!(hex(&said), response, "{hash:?} {has_group} {by:?}");
        assert!(asked.is_answered(by, &key, &names, &said));
        assert!(!asked.is_answered(by, &key[1..], &names, &said));
    }
}

/// By hand, from the figures of the specification.
#[test]
fn messages_by_hand() {
    let mut negotiate = vec![0, 0, 0, 0, 7, 0, 0, 1, 1, 0, 2, 1];
    negotiate.resize(72, 0);
    (negotiate[12], negotiate[13], negotiate[42]) = (3, 1, 1);
    let offer = Offer { hashes: vec![HashId::SHA512, HashId::SHA256], groups: vec![GroupId::FFDHE2048] };
    let told = Message::Negotiate { transaction: 7, secure_channel: 0, offer: Some(offer) };
    assert_eq!((Message::read(&negotiate), told.to_bytes()), (Ok(told.clone()), negotiate));

    let mut bytes = vec![1, 1, 0, 0, 7, 0, 32, 0, 1, 0, 0, 0, 4, 3, 2, 1];
    bytes.extend([9; 32]);
    let told = Message::Challenge(Challenge {
        transaction: 7,
        hash: Hash::Sha256,
        group: Group::Null,
        sequence: 0x0102_0304,
        challenge: vec![9; 32],
        public: vec![],
    });
    assert_eq!((Message::read(&bytes), told.to_bytes()), (Ok(told.clone()), bytes.clone()));
    for (at, value, why) in [
        (6, 31, Explanation::INCORRECT_PAYLOAD),
        (8, 4, Explanation::HASH_UNUSABLE),
        (9, 6, Explanation::GROUP_UNUSABLE),
    ] {
        let mut bad = bytes.clone();
        bad[at] = value;
        assert_eq!(Message::read(&bad), Err(why));
    }

    let mut bytes = vec![1, 2, 0, 0, 7, 0, 2, 0, 1, 0, 3, 0, 5, 0, 0, 0];
    bytes.extend([1, 1, 2, 2, 3, 3, 3]);
    let (response, challenge, public) = (vec![1; 2], vec![2; 2], vec![3; 3]);
    let told =
        Message::Reply(Reply { transaction: 7, response, challenge, is_valid: true, sequence: 5, public });
    assert_eq!((Message::read(&bytes), told.to_bytes()), (Ok(told.clone()), bytes));

    let bytes = [1, 3, 0, 0, 7, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 6];
    let told = Message::Success1 { transaction: 7, response: vec![6; 2], is_valid: true };
    assert_eq!((Message::read(&bytes), &told.to_bytes()[..]), (Ok(told.clone()), &bytes[..]));
    let bytes = [1, 4, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(Message::read(&bytes), Ok(Message::Success2 { transaction: 7 }));
    let (transaction, explanation) = (7, Explanation::INCORRECT_PAYLOAD);
    for (id, is_of_host) in [(0xf1, false), (0xf0, true)] {
        let told = Message::Failure { is_of_host, transaction, explanation };
        let bytes = [0, id, 0, 0, 7, 0, 1, 6];
        assert_eq!((Message::read(&bytes), &told.to_bytes()[..]), (Ok(told.clone()), &bytes[..]));
    }
    assert_eq!(Message::read(&[1, 9, 0, 0, 0, 0, 0, 0]), Err(Explanation::INCORRECT_MESSAGE));
}

fn keys() -> Keys {
    let secret = |byte| Secret::new(vec![byte; 32], None);
    Keys { host: secret(1).expect("a secret"), subsystem: secret(2) }
}
fn random(seed: u8) -> Random {
    Random(core::array::from_fn(|at| (at as u8).wrapping_mul(29).wrapping_add(seed)))
}
fn sides(terms: &Terms) -> (Host, Controller) {
    (Host::new(terms.clone(), keys(), names(), 3), Controller::new(terms.clone(), keys(), names()))
}
/// The controller takes a message, and is given whatever it needs for that.
fn take(controller: &mut Controller, message: &[u8], seed: u8) -> Follows {
    let follows = controller.take(message);
    let power = match &follows {
        Follows::Draw => controller.drawn(&random(seed)),
        Follows::Raise(power) => Some(power.clone()),
        Follows::Ends | Follows::Close => None,
    };
    power.into_iter().for_each(|power| controller.raised(power.compute()));
    follows
}
/// What both are told on the way to a proof, each message as `act` leaves it; whether each has what it wanted.
fn exchange(terms: &Terms, mut act: impl FnMut(usize, &mut Vec<u8>)) -> (bool, bool) {
    let (mut host, mut controller) = sides(terms);
    let (mut step, mut messages) = (host.begin(), 0);
    loop {
        step = match step {
            Step::Send(mut message) => {
                act(messages, &mut message);
                messages += 1;
                take(&mut controller, &message, 7);
                host.sent()
            }
            Step::Receive => {
                let Some(mut message) = controller.give(4096) else { return (false, controller.has_proof()) };
                act(messages, &mut message);
                messages += 1;
                host.take(&message)
            }
            Step::Draw => host.drawn(&random(99)),
            Step::Done => return (true, controller.has_proof()),
            Step::Failed(_) => return (false, controller.has_proof()),
        };
    }
}

/// Every bit of every message that counts: what is changed on its way is found out, by who is to be protected from it.
#[test]
fn no_message_can_be_changed_on_its_way() {
    for group in [Group::Null, Group::Ffdhe2048] {
        let terms = Terms { hashes: vec![Hash::Sha256], groups: vec![group] };
        let mut lengths = Vec::new();
        assert_eq!(exchange(&terms, |_, message| lengths.push(message.len())), (true, true));
        assert_eq!(lengths, [72, 48 + group.bytes(), 80 + group.bytes(), 48, 16]);
        // challenge, reply, the response to the host: sequence numbers and what follows, T_ID
        for (message, from) in [(1, 12), (2, 12), (3, 16)] {
            let step = if group == Group::Null { 1 } else { 37 };
            for at in (from..lengths[message]).step_by(step).chain([4, 5]) {
                let changed = exchange(&terms, |number, bytes| {
                    if number == message {
                        bytes[at] ^= 0x10;
                    }
                });
                assert_ne!(changed, (true, true), "{group:?}: byte {at} of message {message}");
                assert!(!changed.0, "the host is deceived by byte {at} of message {message}");
            }
        }
    }
}

/// What was said once proves nothing to a controller that has drawn another challenge, and nothing is skipped.
#[test]
fn what_was_said_before_is_worth_nothing() {
    let terms = Terms { hashes: vec![Hash::Sha256], groups: vec![Group::Null] };
    let mut said = Vec::new();
    assert_eq!(exchange(&terms, |_, message| said.push(message.clone())), (true, true));
    let (_, mut controller) = sides(&terms);
    assert_eq!(take(&mut controller, &said[0], 8), Follows::Draw);
    assert!(controller.give(47).is_none(), "a buffer that is too small changes nothing");
    assert!(controller.give(48).is_some());
    assert_eq!(controller.take(&said[2]), Follows::Ends);
    let refusal = Message::Failure { is_of_host: false, transaction: 3, explanation: Explanation::FAILED };
    assert_eq!(controller.give(4096), Some(refusal.to_bytes()));
    assert!(controller.is_over() && !controller.has_proof());
    // in another order
    for order in [&[2][..], &[4], &[3], &[0, 2], &[0, 0], &[0, 4]] {
        let (_, mut controller) = sides(&terms);
        for &number in order {
            take(&mut controller, &said[number], 7);
        }
        assert!(!controller.has_proof());
        let told = Message::read(&controller.give(4096).expect("a refusal")).expect("a message");
        let is_refused = matches!(told, Message::Failure { explanation: Explanation::INCORRECT_MESSAGE, .. });
        assert!(is_refused, "{order:?}: {told:?}");
    }
    // a host that has a proof may ask again, and needs one then
    let (_, mut controller) = sides(&terms);
    let again = |controller: &mut Controller, seed| {
        take(controller, &said[0], seed);
        controller.give(4096);
        controller.take(&said[2]);
        controller.give(4096);
        controller.take(&said[4]);
        controller.has_proof()
    };
    assert!(again(&mut controller, 7) && again(&mut controller, 7) && !again(&mut controller, 8));
    assert_eq!(sides(&terms).1.take(&[0, 0xf0, 0, 0, 3, 0, 1, 1]), Follows::Close);
}

#[test]
fn a_secure_channel_and_other_protocols_are_refused() {
    let terms = Terms::quick();
    let offer = Offer { hashes: vec![HashId::SHA256], groups: vec![GroupId::NULL, GroupId(77)] };
    for (secure_channel, offer, why) in [
        (1, Some(offer.clone()), Explanation::CONCATENATION_MISMATCH),
        (0, None, Explanation::PROTOCOL_UNUSABLE),
        (0, Some(offer), Explanation::GROUP_UNUSABLE),
    ] {
        let (_, mut controller) = sides(&terms);
        let asked = Message::Negotiate { transaction: 9, secure_channel, offer };
        assert_eq!(controller.take(&asked.to_bytes()), Follows::Ends);
        let refusal = Message::Failure { is_of_host: false, transaction: 9, explanation: why };
        assert_eq!(controller.give(8), Some(refusal.to_bytes()));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_message_or_none(kind in 0..7_usize, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let kinds = [[0, 0], [1, 1], [1, 2], [1, 3], [1, 4], [0, 0xf0], [0, 0xf1]];
        let mut bytes = bytes;
        bytes.iter_mut().zip(kinds[kind]).for_each(|(byte, of)| *byte = of);
        if let Ok(message) = Message::read(&bytes) {
            prop_assert_eq!(Message::read(&message.to_bytes()), Ok(message));
        }
    }
    #[test]
    fn no_messages_bring_a_side_down(
        messages in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..120), any::<bool>()), 0..8)
    ) {
        let (mut host, mut controller) = sides(&Terms { hashes: vec![Hash::Sha256], groups: vec![Group::Null] });
        let _ = host.begin();
        for (bytes, draws) in messages {
            let _ = (controller.take(&bytes), host.take(&bytes));
            if draws {
                let _ = controller.drawn(&random(1));
                let _ = (host.drawn(&random(2)), host.sent(), controller.give(4096));
            }
            prop_assert!(!controller.has_proof());
        }
    }
}
