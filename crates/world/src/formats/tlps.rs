//! TLPs on the links as a capture file for Wireshark: pcapng (draft-ietf-opsawg-pcapng), link type USER0.
//!
//! An interface is one direction of a link in one case. A packet is a TLP, at the time at which its first symbol is
//! on the link: a header defined by lanetwin, then that of the TLP; of the payload only the length is recorded.
//! Statistics at the end give the number of TLPs that started in each direction, and how many of them are not in the
//! file.
//!
//! The bytes are attached as base64, because attachments are text.

use crate::capture::{Captured, Listened, TlpOnLink};
use crate::format::{FinishedCase, Format, Writer};
use crate::tlp_headers::{Headers, port};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lanetwin_pcie::link::Attach;
use lanetwin_plan::{LinkPlan, Variant};
use lanetwin_stats::results::{Attachment, Results};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption as Of,
};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{Block, PcapNgBlock};
use pcap_file::{DataLink, Endianness};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// Name of the file, as text.
const NAME: &str = "tlps.pcapng.base64";
/// Name of the file with the number of captured TLPs and of all that started.
const COUNTS: &str = "tlps.json";
/// Version of the header before a TLP; docs/exports.md describes it.
const VERSION: u8 = 1;
/// The header before a TLP \[B\].
const BEFORE_BYTES: u16 = 24;
/// `if_tsresol`: times are in units of 10⁻¹² s.
const PICOSECONDS: u8 = 12;
/// Sequence numbers of TLPs have 12 bits (PCIe Base 5.0 §3.5.2.1).
const SEQUENCE_NUMBERS: u64 = 1 << 12;
/// Message of writes to memory, which cannot fail.
const MEMORY: &str = "memory takes what is written to it";

pub(super) const FORMAT: Format = || Box::new(CaptureWriter { cases: Vec::new() });

struct CaptureWriter {
    cases: Vec<Captures>,
}

/// The capture of the first repeat of a case.
struct Captures {
    name: String,
    links: Vec<LinkPlan>,
    captured: Captured,
}

impl Writer for CaptureWriter {
    fn add(&mut self, ran: &FinishedCase<'_>) {
        let Some(captured) = ran.repeats[0].captured.clone() else { return };
        let Variant { name, links, .. } = ran.variant;
        let words = [name.as_str(), &ran.workload.name, &ran.case.label];
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        self.cases.push(Captures { name, links: links.clone(), captured });
    }

    fn finish(self: Box<Self>, _: usize, results: &mut Results) {
        let text = STANDARD.encode(file(&self.cases));
        let count = |of: fn(&Captured) -> u64| self.cases.iter().map(|case| of(&case.captured)).sum::<u64>();
        let packets = count(|captured| captured.tlps.len() as u64);
        let started = count(|captured| captured.directions.iter().map(|of| of.started).sum());
        let counts = serde_json::json!({ "packets": packets, "started": started });
        let counts = Attachment { name: COUNTS.into(), text: counts.to_string() };
        results.attachments.extend([Attachment { name: NAME.into(), text }, counts]);
    }
}

/// The file: interfaces of all cases, their packets case by case, statistics of the interfaces.
fn file(cases: &[Captures]) -> Vec<u8> {
    let options = vec![
        SectionHeaderOption::Comment(ports(cases).into()),
        SectionHeaderOption::UserApplication(concat!("lanetwin ", env!("CARGO_PKG_VERSION")).into()),
    ];
    let section = SectionHeaderBlock { endianness: Endianness::Little, options, ..Default::default() };
    let mut file = PcapNgWriter::with_section_header(Vec::new(), section).expect(MEMORY);
    let mut put = |block: Block<'_>| {
        file.write_block(&block).expect(MEMORY);
    };
    for case in cases {
        case.captured.directions.iter().enumerate().for_each(|(e, of)| put(interface(case, e, of)));
    }
    let mut first = 0;
    for case in cases {
        let mut headers = Headers::default();
        for tlp in &case.captured.tlps {
            let interface = first + u32::from(tlp.egress.0);
            put(packet(interface, &case.links[tlp.egress.index() / 2], &case.captured, tlp, &mut headers));
        }
        first += case.captured.directions.len() as u32;
    }
    let mut first = 0;
    for case in cases {
        statistics(first, &case.captured).for_each(&mut put);
        first += case.captured.directions.len() as u32;
    }
    file.into_inner()
}

/// The bus number of each port of the machine, as used in the headers.
fn ports(cases: &[Captures]) -> String {
    let mut names = BTreeMap::new();
    for of in cases.iter().flat_map(|case| &case.captured.directions) {
        if let Attach::Endpoint(end) = of.end {
            names.insert(end, format!("{} = {} ({})", port(end), of.to, of.link));
        }
    }
    let names: Vec<String> = names.into_values().collect();
    format!("TLPs of the first repeat of each case, as lanetwin simulated them; {}", names.join(", "))
}

fn interface(case: &Captures, egress: usize, of: &Listened) -> Block<'static> {
    let link = &case.links[egress / 2];
    let speed = link.generation.megatransfers() * 1_000_000 * link.width.lanes();
    let name = format!("{} {} → {}", of.link, of.from, of.to);
    let hardware = format!("PCIe {} {}", link.generation, link.width);
    let options = vec![
        Of::IfName(name.into()),
        Of::IfDescription(case.name.clone().into()),
        Of::IfSpeed(speed),
        Of::IfTsResol(PICOSECONDS),
        Of::IfHardware(hardware.into()),
    ];
    InterfaceDescriptionBlock { linktype: DataLink::USER0, snaplen: 0, options }.into_block()
}

fn packet<'a>(
    interface_id: u32,
    link: &LinkPlan,
    captured: &Captured,
    tlp: &TlpOnLink,
    headers: &mut Headers,
) -> Block<'a> {
    let is_there = captured.directions[tlp.egress.index()].end == Attach::Endpoint(tlp.tlps.to);
    let mut data = before(link, tlp);
    data.extend(headers.next(tlp, is_there));
    // the library writes this number as it is, whatever the resolution of the interface
    let timestamp = Duration::from_nanos(tlp.at().as_ps());
    let original_len = data.len() as u32 + u32::from(tlp.padded());
    EnhancedPacketBlock { interface_id, timestamp, original_len, data: Cow::Owned(data), options: Vec::new() }
        .into_block()
}

/// The bytes before the header of a TLP, most significant byte first.
fn before(link: &LinkPlan, tlp: &TlpOnLink) -> Vec<u8> {
    let direction = (tlp.egress.0 & 1) as u8;
    let lanes = link.width.lanes() as u8;
    let sequence = (tlp.number % SEQUENCE_NUMBERS) as u16;
    let mut bytes = vec![VERSION, BEFORE_BYTES as u8, direction, link.generation.number(), lanes, 0];
    bytes.extend((tlp.egress.0 / 2).to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(tlp.wire_bytes.to_be_bytes());
    bytes.extend(tlp.tlps.handle.to_be_bytes());
    bytes.extend(tlp.start.0.to_be_bytes());
    bytes
}

/// The number of TLPs on each interface, and how many of them are not in the file.
fn statistics(first: u32, captured: &Captured) -> impl Iterator<Item = Block<'static>> {
    let mut kept = vec![0_u64; captured.directions.len()];
    captured.tlps.iter().for_each(|tlp| kept[tlp.egress.index()] += 1);
    captured.directions.iter().zip(kept).zip(first..).map(|((of, kept), interface_id)| {
        let options = vec![
            InterfaceStatisticsOption::IsbIfRecv(of.started),
            InterfaceStatisticsOption::IsbIfDrop(of.started - kept),
        ];
        InterfaceStatisticsBlock { interface_id, timestamp: 0, options }.into_block()
    })
}
