//! Loads of programs that send to programs on other hosts, over TCP or by RDMA, and the software of both ends.
//!
//! ```text
//!  (load)/a ─┐               ┌─ client ═ nic ── tor ── nic ═ server
//!  (load)/b ─┴─ (network) ───┴─ server
//! ```

use super::super::names::{CPU, NETWORK, VERBS, shown};
use super::adding::{Adding, NewLoad, port};
use super::software::own_settings;
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_models as models;
use lanetwin_models::network_workers::{ConversationSpec, EndSpec, HostSpec, NetworkWorkers};
use lanetwin_models::shared_port::{self, SharedPort};
use lanetwin_models::verbs_programs::VerbsPrograms;
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{PeerPath, Programs};
use lanetwin_ports::{Message, Protocol, RunQueue};
use std::collections::BTreeMap;

impl Adding<'_> {
    /// Adds the programs of all loads, and joins them to their hosts.
    pub(super) fn add_programs(&mut self, programs: Programs) {
        let paths: Vec<PeerPath> =
            self.askers.iter().map(|asker| self.blueprint.peer_path(asker.pair)).collect();
        // hosts with an adapter each, in the order in which loads need them
        let mut used: Vec<(usize, usize)> = Vec::new();
        for (asker, path) in self.askers.iter().zip(&paths) {
            for own in [(asker.pair.on, path.adapters[0]), (asker.pair.target, path.adapters[1])] {
                if !used.contains(&own) {
                    used.push(own);
                }
            }
        }
        let ends = |asker: &NewLoad<'_>, path: &PeerPath| {
            [(asker.pair.on, path.adapters[0]), (asker.pair.target, path.adapters[1])]
                .map(|(host, adapter)| self.end(asker, (host, adapter), &used))
        };
        let conversations = self
            .askers
            .iter()
            .zip(&paths)
            .map(|(asker, path)| ConversationSpec { ends: ends(asker, path), frames: path.frames });
        let conversations: Vec<_> = conversations.collect();
        let model = models::find("nvmeof-host").expect("it is on the shelf");
        let machine = &self.blueprint.variant.machine;
        let host = |(host, adapter): &(usize, usize)| HostSpec {
            name: machine[*host].name.clone(),
            adapter: self.endpoint(*adapter),
            params: own_settings(model, &machine[*host]),
        };
        let hosts: Vec<_> = used.iter().map(host).collect();
        let (name, first, component): (_, _, Box<dyn Component<Message>>) = match programs {
            Programs::Sockets(test) => {
                let own = NetworkWorkers::new(hosts, conversations, test, self.net.sockets.clone());
                (NETWORK, own.of_load(0), Box::new(own))
            }
            Programs::QueuePairs(test) => {
                let own = VerbsPrograms::new(hosts, conversations, test, self.net.rdma.clone());
                (VERBS, own.of_load(0), Box::new(own))
            }
        };
        let id = self.builder.add(name, component);
        self.network = Some((id, first, name));
        self.join_programs(id, &used);
    }
    /// An end of a load's connection, at a host with one of its adapters.
    fn end(&self, asker: &NewLoad<'_>, at: (usize, usize), used: &[(usize, usize)]) -> EndSpec {
        let core = self.core(asker, at.0);
        EndSpec {
            host: used.iter().position(|own| *own == at).expect("it is one of them"),
            tells_core: core.is_none(),
            core: core.unwrap_or_else(|| RunQueue::new(1)),
            station: self.station(at.1),
        }
    }

    /// Joins the programs to their hosts, with one port for each adapter of a host.
    fn join_programs(&mut self, programs: ComponentId, used: &[(usize, usize)]) {
        let mut by_host: BTreeMap<usize, Vec<(usize, Port)>> = BTreeMap::new();
        for (place, (host, adapter)) in used.iter().enumerate() {
            by_host.entry(*host).or_default().push((*adapter, Port(place as u16)));
        }
        for (host, own) in by_host {
            let plan = &self.blueprint.variant.machine[host];
            let cpu = (self.ids.of(host), port(plan, Protocol::Cpu));
            if let [(_, only)] = own[..] {
                self.builder.join((programs, only), cpu);
                continue;
            }
            let at = |(place, (adapter, _)): (u32, &(usize, Port))| {
                (self.endpoint(*adapter), shared_port::of_load(place))
            };
            let devices: BTreeMap<EndpointId, Port> = (0..).zip(&own).map(at).collect();
            let mux = SharedPort { loads: 1, devices };
            let mux = self.builder.add(format!("{CPU}/{}", plan.name), Box::new(mux));
            self.builder.join((mux, shared_port::HOST), cpu);
            for (place, (_, port)) in (0..).zip(own) {
                self.builder.join((programs, port), (mux, shared_port::of_load(place)));
            }
        }
    }

    /// The port of the programs that belongs to a load, and the name of its component.
    pub(super) fn network_port(&self, asker: &NewLoad<'_>) -> Option<((ComponentId, Port), String)> {
        let (id, Port(first), name) = self.network?;
        Some(((id, Port(first + asker.place as u16)), shown(name)))
    }
}
