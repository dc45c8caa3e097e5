//! Inputs near the seeds, drawn from a stream: bits, bytes and numbers are changed, pieces cut, repeated and put into
//! one another. Where there are no seeds, as for what is read from any bytes, drawn bytes are one.

use crate::inputs::Inputs;
use lanetwin_kernel::Stream;

/// The most bytes that are drawn, or put in.
const DRAWN: usize = 1_000;
/// No input grows beyond this.
const MOST: usize = 1 << 16;

pub struct Changes<'a> {
    stream: Stream,
    inputs: &'a Inputs,
}

impl<'a> Changes<'a> {
    pub fn new(stream: Stream, inputs: &'a Inputs) -> Self {
        Self { stream, inputs }
    }

    pub fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.begin();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes.truncate(MOST);
        bytes
    }

    fn begin(&mut self) -> Vec<u8> {
        match self.inputs.seeds.len() {
            0 => self.drawn(DRAWN),
            count => self.inputs.seeds[self.below(count)].1.clone(),
        }
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        match self.below(10) {
            0 | 1 => self.overwrite(bytes, |stream, byte| byte ^ 1 << stream.below(8)),
            2 => self.overwrite(bytes, |stream, _| stream.bits() as u8),
            3 => {
                let length = self.below(bytes.len() + 1);
                bytes.truncate(length);
            }
            4 => {
                let (from, to) = self.range(bytes.len());
                bytes.drain(from..to);
            }
            5 => {
                let (from, to) = self.range(bytes.len());
                let piece = bytes[from..to].to_vec();
                self.put(bytes, &piece);
            }
            6 => {
                let drawn = self.drawn(20);
                self.put(bytes, &drawn);
            }
            7 => {
                let word = self.word();
                self.put(bytes, &word);
            }
            8 => {
                let other = self.begin();
                let (from, to) = self.range(other.len());
                self.put(bytes, &other[from..to]);
            }
            _ => self.number(bytes),
        }
    }

    fn overwrite(&mut self, bytes: &mut [u8], change: fn(&mut Stream, u8) -> u8) {
        if !bytes.is_empty() {
            let at = self.below(bytes.len());
            bytes[at] = change(&mut self.stream, bytes[at]);
        }
    }

    /// A number at the edge of what it may be: in figures, where there are some, else in 1 to 8 bytes.
    fn number(&mut self, bytes: &mut Vec<u8>) {
        let edges = [0, 1, 2, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 63, u64::MAX];
        let edge = edges[self.below(edges.len())];
        let at = self.below(bytes.len() + 1);
        let figures = bytes[at..].iter().position(u8::is_ascii_digit).map(|after| at + after);
        if let Some(first) = figures.filter(|_| self.stream.chance(0.8)) {
            let count = bytes[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            bytes.splice(first..first + count, edge.to_string().into_bytes());
        } else {
            let count = (1 << self.below(4)).min(bytes.len() - at);
            bytes[at..at + count].copy_from_slice(&edge.to_le_bytes()[..count]);
        }
    }

    /// A word of the reader, or a number.
    fn word(&mut self) -> Vec<u8> {
        match self.inputs.words.len() {
            0 => vec![0xff; self.below(9)],
            count => self.inputs.words[self.below(count)].clone(),
        }
    }

    /// Any bytes: half of the time small ones, as most counts and choices are.
    fn drawn(&mut self, most: usize) -> Vec<u8> {
        let small = self.stream.chance(0.5);
        let count = self.below(most + 1);
        (0..count)
            .map(|_| {
                if small && self.stream.chance(0.5) { self.below(5) as u8 } else { self.stream.bits() as u8 }
            })
            .collect()
    }

    fn put(&mut self, bytes: &mut Vec<u8>, piece: &[u8]) {
        let at = self.below(bytes.len() + 1);
        bytes.splice(at..at, piece.iter().copied());
    }

    /// A piece of what has this length, seldom a long one.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let from = self.below(length + 1);
        let most = if self.stream.chance(0.8) { 64 } else { length };
        (from, from + self.below(most.min(length - from) + 1))
    }

    fn below(&mut self, count: usize) -> usize {
        self.stream.below(count as u64) as usize
    }
}
