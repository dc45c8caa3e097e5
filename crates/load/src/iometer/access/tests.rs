//! Tests that shares, percentages, alignment and bursts have the same meaning as in Iometer.

use super::*;

const MIB: u64 = 1 << 20;
const REGION: Region = Region { start: 0, bytes: 64 * MIB, sector: 512 };
const LINE: AccessLine =
    AccessLine { size: 4096, share: 100, reads: 100, random: 0, delay_ms: 0, burst: 1, align: 0, reply: 0 };

fn take(lines: &[AccessLine], region: Region, n: usize) -> Vec<Access> {
    let workload = AccessWorkload {
        lines: lines.to_vec(),
        region,
        outstanding: 1,
        count: None,
        connections: None,
        network: false,
    };
    workload.check().expect("a workload that can be run");
    let mut accesses = Accesses::new(workload.lines, &[region], 1, "load");
    (0..n).map(|_| accesses.next(0)).collect()
}

#[test]
fn shares_are_of_accesses_and_not_of_bytes() {
    let reads = AccessLine { size: 2 * MIB as u32, share: 67, ..LINE };
    let writes = AccessLine { size: 64 * 1024, share: 33, reads: 0, ..LINE };
    let all = take(&[reads, writes], REGION, 100_000);
    let is_read = |access: &&Access| access.operation == Operation::Read;
    let (read, written): (Vec<&Access>, Vec<&Access>) = all.iter().partition(is_read);
    assert!(read.len().abs_diff(67_000) < 600, "{} reads of 100,000", read.len());
    assert!(read.iter().all(|access| access.bytes == 2 * MIB as u32));
    assert!(written.iter().all(|access| access.bytes == 64 * 1024));
    let bytes = |side: &[&Access]| side.iter().map(|access| f64::from(access.bytes)).sum::<f64>();
    // in units of 64 KiB: 67 · 32 read, 33 · 1 written
    let share = bytes(&read) / (bytes(&read) + bytes(&written));
    assert!((share - 2144.0 / 2177.0).abs() < 0.001, "{share}");
}

#[test]
fn sequential_accesses_follow_one_another_and_start_again_at_the_end() {
    let region = Region { start: 1024, bytes: 3 * 4096 + 100, sector: 512 };
    let addresses: Vec<u64> = take(&[LINE], region, 5).iter().map(|access| access.address).collect();
    assert_eq!(addresses, [1024, 5120, 9216, 1024, 5120]);
}

#[test]
fn alignment_is_the_sector_or_what_the_line_says() {
    let odd = AccessLine { size: 700, ..LINE };
    let of = |line: AccessLine| take(&[line], REGION, 4).iter().map(|a| a.address).collect::<Vec<_>>();
    assert_eq!(of(odd), [0, 1024, 2048, 3072]);
    assert_eq!(of(AccessLine { align: 4096, ..odd }), [0, 4096, 8192, 12288]);
    assert_eq!(of(AccessLine { align: 1000, ..odd }), [0, 1000, 2000, 3000]);
    assert_eq!(of(AccessLine { align: 1, ..odd }), [0, 700, 1400, 2100]);
}

#[test]
fn random_accesses_cover_the_region_and_stay_inside() {
    let region = Region { start: 5 * 4096, bytes: 10 * 4096, sector: 4096 };
    let line = AccessLine { random: 100, ..LINE };
    let mut counts = [0_u32; 10];
    for access in take(&[line], region, 10_000) {
        assert_eq!(access.address % 4096, 0);
        counts[(access.address / 4096 - 5) as usize] += 1;
    }
    // draws are rounded up; those above the last place fall on the first one, so that it also has one tenth
    assert!(counts[1..].iter().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    assert!(counts[0].abs_diff(1000) < 150, "{counts:?}");
}

#[test]
fn a_percentage_moves_no_draw_of_another() {
    let mixed = |reads| take(&[AccessLine { reads, random: 50, ..LINE }], REGION, 1000);
    let (some, all) = (mixed(30), mixed(100));
    assert!(some.iter().zip(&all).all(|(a, b)| a.address == b.address));
    assert!(some.iter().filter(|a| a.operation == Operation::Read).count().abs_diff(300) < 60);
    assert!(some.iter().any(|a| a.operation == Operation::Write));
}

#[test]
fn a_burst_keeps_its_line_and_its_delay_comes_before_it() {
    let paced = AccessLine { size: 512, share: 50, burst: 3, delay_ms: 2, ..LINE };
    let plain = AccessLine { size: 1024, share: 50, burst: 1, delay_ms: 0, ..LINE };
    let mut accesses = Accesses::new(vec![paced, plain], &[REGION], 1, "load");
    let mut bursts = [0_u32; 2];
    for _ in 0..200 {
        let pause = accesses.pause();
        let first = accesses.next(0).bytes;
        if first == 512 {
            assert_eq!(pause, Span::from_us(2000));
            for _ in 0..2 {
                assert_eq!((accesses.pause(), accesses.next(0).bytes), (Span::ZERO, 512));
            }
        } else {
            assert_eq!(pause, Span::ZERO);
        }
        bursts[usize::from(first == 512)] += 1;
    }
    // the share is one of bursts: half of them, and therefore three quarters of the accesses
    assert!(bursts[0].abs_diff(100) < 35, "{bursts:?}");
}

#[test]
fn targets_have_positions_of_their_own_and_another_one_changes_none() {
    let line = AccessLine { random: 30, ..LINE };
    let mut one = Accesses::new(vec![line], &[REGION], 1, "load");
    let mut two = Accesses::new(vec![line], &[REGION, REGION], 1, "load");
    for _ in 0..200 {
        let expected = one.next(0);
        two.next(1);
        assert_eq!(two.next(0), expected);
    }
}

#[test]
fn what_cannot_be_run_is_said() {
    let good = AccessWorkload {
        lines: vec![LINE],
        region: REGION,
        outstanding: 1,
        count: None,
        connections: None,
        network: false,
    };
    let line = |line| AccessWorkload { lines: vec![line], ..good.clone() };
    let region = |region| AccessWorkload { region, ..good.clone() };
    assert_eq!(good.check(), Ok(()));
    for (bad, why) in [
        (line(AccessLine { share: 99, ..LINE }), BadAccesses::Shares),
        (line(AccessLine { size: 0, ..LINE }), BadAccesses::NoBytes),
        (AccessWorkload { outstanding: 0, ..good.clone() }, BadAccesses::NothingOutstanding),
        (region(Region { sector: 0, ..REGION }), BadAccesses::NoSector),
        (region(Region { bytes: 4095, ..REGION }), BadAccesses::TooSmall),
        (region(Region { start: 1, bytes: 4096, ..REGION }), BadAccesses::TooSmall),
        (region(Region { start: u64::MAX, bytes: 4096, ..REGION }), BadAccesses::TooSmall),
    ] {
        assert_eq!(bad.check(), Err(why));
        assert!(why.to_string().len() > 10);
    }
}

#[test]
fn settings_leave_a_part_of_the_disk() {
    let of = |maximum_size, starting_sector| {
        let settings = DiskSettings { maximum_size, starting_sector, data_pattern: None };
        let Region { start, bytes, .. } = Region::of_disk(&settings, 10_000, 512);
        (start, bytes)
    };
    assert_eq!(of(0, 0), (0, 10_000));
    assert_eq!(of(4, 2), (1024, 2048));
    assert_eq!(of(u64::MAX, 2), (1024, 8976));
    assert_eq!(of(0, u64::MAX), (10_000, 0));
}
