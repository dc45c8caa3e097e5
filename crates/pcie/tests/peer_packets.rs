//! Does a stranger agree? Packets that cocotbext-pcie made from the same fields, bit for bit, and what it says they
//! weigh.

use lanetwin_pcie::spec::header::{Completion, CompletionStatus, Content, Part, Request};
use lanetwin_pcie::spec::tlp::TrafficClass;
use lanetwin_pcie::spec::{Bdf, ByteRange, Dllp, FcClass, SequenceNumber, Tag, TlpHeader, TlpKind, Traffic};
use lanetwin_units::Generation;
use std::error::Error;

const TLPS: &str = include_str!("data/cocotbext_pcie_tlps.csv");
const DLLPS: &str = include_str!("data/cocotbext_pcie_dllps.csv");

/// The rows of a table, without its comments and its heading.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

fn number(text: &str) -> Result<u64, Box<dyn Error>> {
    Ok(match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16)?,
        None => text.parse()?,
    })
}

/// The bytes of a hexadecimal string.
fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    (0..hex.len()).step_by(2).map(|i| Ok(u8::from_str_radix(&hex[i..i + 2], 16)?)).collect()
}

/// The header that a row describes.
fn header(row: &[&str]) -> Result<TlpHeader, Box<dyn Error>> {
    let field = |i: usize| number(row[i]);
    let flag = |i: usize| field(i).map(|value| value == 1);
    let (requester, tag) = (Bdf::from_raw(field(7)? as u16), Tag::new(field(8)? as u16).ok_or("a tag")?);
    let range = ByteRange::new(field(9)?, field(10)? as u16)?;
    let completion = |part| -> Result<Content, Box<dyn Error>> {
        let (completer, status) = (Bdf::from_raw(field(12)? as u16), CompletionStatus(field(13)? as u8));
        Ok(Content::Completion(Completion { completer, requester, tag, status, part }))
    };
    let content = match row[0] {
        "MRd" => Content::MemoryRead(Request { requester, tag, range }),
        "MWr" => Content::MemoryWrite(Request { requester, tag, range }),
        "Cpl" => completion(Part::without_data(range))?,
        "CplD" => {
            let piece = ByteRange::new(range.address(), field(11)? as u16)?;
            completion(Part::of(range, piece).ok_or("a part of the request")?)?
        }
        other => return Err(other.into()),
    };
    let class = TrafficClass::new(field(1)? as u8).ok_or("a traffic class")?;
    let traffic =
        Traffic { class, relaxed_ordering: flag(2)?, id_based_ordering: flag(3)?, no_snoop: flag(4)? };
    Ok(TlpHeader { traffic, ecrc: flag(5)?, poisoned: flag(6)?, content })
}

#[test]
fn headers_are_the_same_bytes() -> Result<(), Box<dyn Error>> {
    let mut kinds = Vec::new();
    for row in rows(TLPS) {
        let (header, wire) = (header(&row)?, bytes(row[14])?);
        assert_eq!(header.encode()?.as_slice(), wire, "{row:?}");
        assert_eq!(TlpHeader::decode(&wire)?, (header, wire.len()), "{row:?}");
        kinds.push(header.kind());
    }
    for kind in [TlpKind::MRd, TlpKind::MWr, TlpKind::Cpl, TlpKind::CplD] {
        assert_eq!(kinds.iter().filter(|&&k| k == kind).count(), 15);
    }
    Ok(())
}

/// The peer leaves the ECRC out of its sizes.
#[test]
fn packets_weigh_the_same_and_cost_the_same_credits() -> Result<(), Box<dyn Error>> {
    for row in rows(TLPS) {
        let header = TlpHeader { ecrc: false, ..header(&row)? };
        for generation in Generation::ALL {
            let weight = header.format().wire_bytes(generation, header.payload());
            assert_eq!(u64::from(weight), number(row[16])?, "{row:?}");
        }
        let credits = header.kind().credits(header.payload());
        assert_eq!(u64::from(credits.data.0), number(row[15])?, "{row:?}");
    }
    Ok(())
}

#[test]
fn dllps_are_the_same_bytes() -> Result<(), Box<dyn Error>> {
    use lanetwin_pcie::spec::dllp::FcPhase;
    for row in rows(DLLPS) {
        let sequence = SequenceNumber::new(number(row[1])? as u16).ok_or("a sequence number")?;
        let flow_control = |phase, class| -> Result<Dllp, Box<dyn Error>> {
            let (vc, header, data) = (number(row[2])? as u8, number(row[3])? as u8, number(row[4])? as u16);
            Ok(Dllp::FlowControl { phase, class, vc, header, data })
        };
        let dllp = match row[0] {
            "ACK" => Dllp::Ack(sequence),
            "NAK" => Dllp::Nak(sequence),
            fc => {
                let (phase, class) = fc.rsplit_once('_').ok_or("phase and class")?;
                let phase = match phase {
                    "INIT_FC1" => FcPhase::InitFc1,
                    "INIT_FC2" => FcPhase::InitFc2,
                    "UPDATE_FC" => FcPhase::UpdateFc,
                    other => return Err(other.into()),
                };
                let class = match class {
                    "P" => FcClass::Posted,
                    "NP" => FcClass::NonPosted,
                    "CPL" => FcClass::Completion,
                    other => return Err(other.into()),
                };
                flow_control(phase, class)?
            }
        };
        let wire = bytes(row[5])?;
        assert_eq!(dllp.encode()?.as_slice(), wire, "{row:?}");
        assert_eq!(Dllp::decode(wire.as_slice().try_into()?)?, dllp, "{row:?}");
    }
    assert_eq!(rows(DLLPS).count(), 40);
    Ok(())
}
