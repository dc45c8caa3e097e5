//! A tree as text: as `lspci -t` draws it, and with registers as `lspci -vv` lists them.

use super::bridge::Bridge;
use super::declare::{Bar, NodeId, PortId};
use super::enumerate::{Function, Tree};
use super::pack::Space;
use core::fmt::{self, Write};

impl fmt::Display for Tree {
    /// The buses and what is on them, as `lspci -t` draws them, with the names of host and endpoints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = vec!["00.0  host".to_owned()];
        let ports = self.root_ports.iter().map(|&port| self.draw_port(port));
        let drawings: Vec<Vec<String>> = core::iter::once(host).chain(ports).collect();
        let root = beside("-[0000:00]-", &on_a_bus(drawings));
        root.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Lines behind a text that stands in the first of them.
fn beside(text: &str, lines: &[String]) -> Vec<String> {
    let before = |index: usize| if index == 0 { text.to_owned() } else { " ".repeat(text.len()) };
    lines.iter().enumerate().map(|(index, line)| before(index) + line).collect()
}

/// The drawings of what is on a bus, joined by its line; one empty line for an empty bus.
fn on_a_bus(drawings: Vec<Vec<String>>) -> Vec<String> {
    let count = drawings.len();
    let mut lines = Vec::new();
    for (number, drawing) in drawings.into_iter().enumerate() {
        let (branch, trunk) = match number + 1 == count {
            true if count == 1 => ("--", "  "),
            true => ("\\-", "  "),
            false => ("+-", "| "),
        };
        let joined = drawing.into_iter().enumerate();
        lines.extend(joined.map(|(index, line)| if index == 0 { branch } else { trunk }.to_owned() + &line));
    }
    if lines.is_empty() { vec![String::new()] } else { lines }
}

impl Tree {
    fn draw_port(&self, port: PortId) -> Vec<String> {
        let on_the_link = self.below(port).map_or_else(Vec::new, |node| self.draw_node(node));
        draw_bridge(self.bridge(port), on_the_link)
    }
    /// A device: one drawing for each of its functions.
    fn draw_node(&self, node: NodeId) -> Vec<Vec<String>> {
        let name = &self.nodes[node.index()].name;
        match self.upstream(node) {
            Some(bridge) => {
                let inside = self.downstream(node).iter().map(|&port| self.draw_port(port));
                vec![draw_bridge(bridge, inside.collect())]
            }
            None => {
                let place = |of: &Function| format!("{:02x}.{}", of.bdf.device(), of.bdf.function());
                self.functions(node).iter().map(|of| vec![format!("{}  {name}", place(of))]).collect()
            }
        }
    }
}

fn draw_bridge(bridge: &Bridge, behind: Vec<Vec<String>>) -> Vec<String> {
    let (first, last) = (bridge.buses.secondary(), bridge.buses.subordinate());
    let buses = if first == last { format!("{first:02x}") } else { format!("{first:02x}-{last:02x}") };
    let text = format!("{:02x}.{}-[{buses}]--", bridge.bdf.device(), bridge.bdf.function());
    beside(&text, &on_a_bus(behind))
}

impl Tree {
    /// Every function with its buses, windows and BARs, in the order of their IDs, in the manner of `lspci -vv`.
    #[must_use]
    pub fn listing(&self) -> String {
        let mut entries = Vec::new();
        for port in self.ports() {
            let name = &self.ports[port.index()].name;
            entries.push((self.bridge(port).bdf, bridge_text(self.bridge(port), name)));
        }
        for node in self.nodes() {
            let name = &self.nodes[node.index()].name;
            entries.extend(self.upstream(node).map(|bridge| (bridge.bdf, bridge_text(bridge, name))));
            entries.extend(self.functions(node).iter().map(|of| (of.bdf, function_text(of, name))));
        }
        entries.sort_by_key(|(bdf, _)| bdf.raw());
        entries.into_iter().map(|(_, text)| text).collect()
    }
}

fn bridge_text(bridge: &Bridge, name: &str) -> String {
    let buses = bridge.buses;
    let mut text = format!("{} PCI bridge: {name}\n", bridge.bdf);
    let _ = writeln!(
        text,
        "\tBus: primary={:02x}, secondary={:02x}, subordinate={:02x}, sec-latency={}",
        buses.primary(),
        buses.secondary(),
        buses.subordinate(),
        buses.secondary_latency()
    );
    let kinds = [("Memory", Space::Low, 8, "32-bit"), ("Prefetchable memory", Space::High, 16, "64-bit")];
    for (kind, space, digits, bits) in kinds {
        let _ = match bridge.window(space) {
            None => writeln!(text, "\t{kind} behind bridge: [disabled] [{bits}]"),
            Some(window) => {
                let (first, last) = (window.start(), window.end());
                let size = size_text(last - first + 1);
                writeln!(
                    text,
                    "\t{kind} behind bridge: {first:0digits$x}-{last:0digits$x} [size={size}] [{bits}]"
                )
            }
        };
    }
    text
}

fn function_text(function: &Function, name: &str) -> String {
    let mut text = format!("{} Endpoint: {name}\n", function.bdf);
    let mut register = 0;
    for (bar, address) in &function.bars {
        let _ = writeln!(
            text,
            "\tRegion {register}: Memory at {address:x} ({}) [size={}]",
            kind_text(*bar),
            size_text(bar.size())
        );
        register += if bar.kind().is_64_bit() { 2 } else { 1 };
    }
    text
}

fn kind_text(bar: Bar) -> &'static str {
    match (bar.kind().is_64_bit(), bar.kind().is_prefetchable()) {
        (false, false) => "32-bit, non-prefetchable",
        (false, true) => "32-bit, prefetchable",
        (true, false) => "64-bit, non-prefetchable",
        (true, true) => "64-bit, prefetchable",
    }
}

/// A size as `lspci` writes it: with the largest binary prefix that leaves a whole number, and no B.
fn size_text(size: u64) -> String {
    let mut left = size;
    for prefix in ["", "K", "M", "G", "T"] {
        if !left.is_multiple_of(1024) || left == 0 {
            return format!("{left}{prefix}");
        }
        left /= 1024;
    }
    format!("{left}P")
}
