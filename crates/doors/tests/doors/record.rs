//! What is asked of a drive is kept as readers of traces and of logs of fio take it.

use lanetwin_document::problem::Complaint;
use lanetwin_doors::command::{Kind, Request};
use lanetwin_doors::record::{Asked, Record};
use lanetwin_load::fio::iolog;
use lanetwin_load::trace::Trace;
use lanetwin_units::{Instant, Span};

const KINDS: [Kind; 4] = [Kind::Write, Kind::Flush, Kind::Read, Kind::Deallocate];

/// Four requests 10 µs apart from 5 µs on, of which the third is answered first and the last never.
fn recorded(name: &str) -> String {
    let folder = std::env::temp_dir().join(format!("lanetwin-record-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    let mut record = Record::create(&folder).expect("it is not there");
    let taken = Record::create(&folder).expect_err("it is there");
    assert!(taken.message().contains("exists"), "{}", taken.message());
    for (ticket, kind) in (0..).zip(KINDS) {
        let at = Instant::ZERO + Span::from_us(5 + 10 * ticket);
        let bytes = if kind == Kind::Flush { 0 } else { 4096 };
        record.asked(ticket, Asked { at, asker: 7, request: Request { kind, first: 8192 * ticket, bytes } });
    }
    record.over(2, Some(Span::from_ns(1500)));
    record.over(0, Some(Span::from_us(40)));
    let last = Request { kind: Kind::Read, first: 0, bytes: 512 };
    record.asked(4, Asked { at: Instant::ZERO + Span::from_us(100), asker: 8, request: last });
    record.close().expect("there is room");
    let text = std::fs::read_to_string(&folder).expect("it was written");
    std::fs::remove_file(&folder).expect("it is there");
    text
}

#[test]
fn a_table_is_a_trace_with_latencies_and_what_was_answered() {
    let text = recorded("record.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[1..],
        [
            "0.000000,write,0,4096,40.000000,7,0",
            "20.000000,read,16384,4096,1.500000,7,0",
            "95.000000,read,0,512,,8,2",
        ]
    );
    assert_eq!(Trace::read(&text, "record.csv").expect("it is a trace").requests().count(), 3);
}

#[test]
fn a_log_is_one_of_fio() {
    let text = recorded("record.log");
    assert!(
        text.contains("10 drive sync 0 0\n20 drive read 16384 4096\n30 drive trim 24576 4096\n"),
        "{text}"
    );
    let (log, findings) = iolog::read(&text, "record.log").expect("it is a log");
    assert_eq!((log.entries.len(), log.left_out, findings.len()), (3, 2, 1));
}
