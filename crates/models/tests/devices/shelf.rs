//! Every model on the shelf, present and future, is held to this without being named.

use crate::rig::*;
use lanetwin_models::{MODELS, find};
use lanetwin_pcie::link::{Arbitration, Core, Forwarding, OutputBuffer, SwitchSpec};
use lanetwin_ports::{CXL_PORT, PCIE_DEVICE, PCIE_PORT, Protocol};
use lanetwin_units::{Generation, Span};
use std::collections::BTreeSet;

/// A sentence of the catalogue: not empty, not shouting, one line.
fn is_sentence(text: &str) -> bool {
    text.len() > 10 && !text.contains('\n') && !text.ends_with(char::is_whitespace)
}

#[test]
fn names_are_unique_sorted_and_found() {
    let names: Vec<_> = MODELS.iter().map(|model| model.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for model in MODELS {
        assert_eq!(find(model.name).map(|found| found.name), Some(model.name));
        assert!(model.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", model.name);
        assert!(is_sentence(model.about) && model.about.ends_with('.'), "{}", model.name);
    }
}

#[test]
fn ports_are_named_once_and_only_the_last_is_many() {
    for model in MODELS {
        let names: BTreeSet<_> = model.ports.iter().map(|port| port.name).collect();
        assert_eq!(names.len(), model.ports.len(), "{}", model.name);
        assert!(model.ports.iter().all(|port| is_sentence(port.about)), "{}", model.name);
        let many = model.ports.iter().position(|port| port.many);
        assert!(many.is_none_or(|at| at + 1 == model.ports.len()), "{}", model.name);
        let counted = model.all_params().any(|param| param.name == "ports");
        assert_eq!(many.is_some(), counted, "{} counts its ports if there are many", model.name);
    }
}

#[test]
fn parameters_have_a_sentence_and_a_default_that_is_a_value() {
    for model in MODELS {
        let mut names = BTreeSet::new();
        for param in model.all_params() {
            let name = format!("{}: {}", model.name, param.name);
            assert!(names.insert(param.name), "{name} is declared twice");
            assert!(is_sentence(param.about) && !param.about.ends_with('.'), "{name}: {}", param.about);
            let default = param.default.unwrap_or_else(|| panic!("{name} has no default"));
            assert!(parse(param.dimension, default).is_some(), "{name}: {default}");
        }
    }
}

#[test]
fn a_device_with_a_pcie_port_promises_a_lookahead() {
    for model in MODELS.iter().filter(|model| !model.is_switch()) {
        let pcie = model.ports.iter().any(|port| port.speaks == Protocol::Pcie);
        for name in ["issue", "port.drain"] {
            assert_eq!(pcie, model.all_params().any(|param| param.name == name), "{}: {name}", model.name);
        }
    }
}

/// What links need to know of whatever is at their ends.
#[test]
fn every_pcie_port_says_what_a_link_needs_to_know() {
    for model in MODELS {
        let pcie = model.ports.iter().any(|port| port.speaks == Protocol::Pcie);
        for needed in &PCIE_PORT {
            let declared = model.all_params().any(|param| param.name == needed.name);
            // A CXL port runs on lanes of PCIe, and says so in the same words.
            let of_cxl = CXL_PORT.iter().any(|param| param.name == needed.name)
                && model.ports.iter().any(|port| port.speaks == Protocol::Cxl);
            assert_eq!(pcie || declared && of_cxl, declared, "{}: {}", model.name, needed.name);
        }
        let device = pcie && !model.is_switch();
        for needed in &PCIE_DEVICE {
            let declared = model.all_params().any(|param| param.name == needed.name);
            assert_eq!(device, declared, "{}: {}", model.name, needed.name);
        }
    }
}

#[test]
fn a_switch_has_nothing_but_pcie_ports_and_finite_buffers() {
    for model in MODELS.iter().filter(|model| model.is_switch()) {
        let params = params(model, &[]);
        assert!(model.component(&params, &site(model, "here")).is_none(), "{}", model.name);
        assert!(model.ports.iter().all(|port| port.speaks == Protocol::Pcie), "{}", model.name);
        assert!(!model.has_memory && !(model.drains_itself)(&params), "{}", model.name);
        let credits = PCIE_PORT.iter().filter(|param| param.name.ends_with("-credits"));
        let advertised: Vec<u64> = credits.map(|param| params.count(param.name)).collect();
        assert!(advertised.len() == 6 && !advertised.contains(&0), "{}: {advertised:?}", model.name);
    }
}

#[test]
fn a_switch_is_what_its_parameters_say() {
    let switch = find("switch").unwrap();
    let spec = |replaced: &[(&str, &str)]| switch.switch(&params(switch, replaced)).unwrap();
    let plain = SwitchSpec::plain(Span::from_ns(120), Forwarding::CutThrough);
    assert_eq!(spec(&[]), plain);
    let stored = [("latency", "1us"), ("forwarding", "store-and-forward"), ("arbitration", "weighted")];
    let weighted = SwitchSpec {
        arbitration: Arbitration::Weighted,
        ..SwitchSpec::plain(Span::from_us(1), Forwarding::StoreAndForward)
    };
    assert_eq!(spec(&stored), weighted);
    let core =
        |core| spec(&[("core", core), ("speed-up", "3"), ("output.tlps", "5"), ("output.data", "100B")]);
    let output = OutputBuffer { tlps: 5, data: 6 };
    let with = |core| SwitchSpec { core: Some(core), ..plain };
    assert_eq!(core("crossbar"), with(Core::Crossbar { speed_up: 3, output }));
    assert_eq!(core("shared-bus"), with(Core::SharedBus { speed_up: 3, output }));
    assert_eq!(core("shared-memory"), with(Core::SharedMemory { speed_up: 3 }));
}

#[test]
fn what_stands_in_links_has_no_ports_and_says_how_fast_and_wide_it_is() {
    let extensions: Vec<_> = MODELS.iter().filter(|model| model.is_extension()).collect();
    assert_eq!(extensions.iter().map(|model| model.name).collect::<Vec<_>>(), ["redriver", "retimer"]);
    for model in extensions {
        let params = params(model, &[("gen", "4"), ("lanes", "8"), ("latency", "3ns")]);
        assert!(model.component(&params, &site(model, "here")).is_none() && model.switch(&params).is_none());
        assert!(model.ports.is_empty() && !model.has_memory, "{}", model.name);
        assert_eq!((params.count("gen"), params.count("lanes")), (4, 8));
        for generation in Generation::ALL {
            let latency = model.extension(&params, generation).map(|extension| extension.latency);
            assert_eq!(latency, Some(Span::from_ns(3)), "{}", model.name);
        }
    }
}

#[test]
fn every_model_builds_from_its_defaults_and_can_be_looked_into() {
    for model in MODELS {
        let params = params(model, &[]);
        let Some(mut device) = model.component(&params, &site(model, "here")) else {
            let is_other =
                model.switch(&params).is_some() || model.extension(&params, Generation::Gen5).is_some();
            assert!(is_other, "{} is neither component nor switch, nor stands in links", model.name);
            continue;
        };
        let mut seen = BTreeSet::new();
        device.inspect(&mut |name, _| assert!(seen.insert(name.to_owned()), "{}: {name} twice", model.name));
        assert!(!seen.is_empty(), "{} shows nothing", model.name);
        assert!(device.as_any().is_some(), "{} cannot be read after a run", model.name);
        assert!(!(model.drains_itself)(&params), "{} drains by itself unasked", model.name);
    }
}

#[test]
fn every_driver_that_is_named_has_a_port_to_a_cpu_and_one_to_programs() {
    for model in MODELS {
        let driver =
            find(model.driver).unwrap_or_else(|| panic!("{} is driven by {}", model.name, model.driver));
        for protocol in [Protocol::Cpu, Protocol::Block] {
            assert!(driver.ports.iter().any(|port| port.speaks == protocol), "{}: {protocol:?}", driver.name);
        }
    }
}

#[test]
fn defaults_are_no_mistake_and_ports_that_are_there_are_declared() {
    for model in MODELS {
        let params = params(model, &[]);
        assert_eq!((model.mistakes)(&params), [], "{}", model.name);
        assert!(
            model.ports.is_empty() || model.ports.iter().any(|port| (model.has_port)(&params, port.name)),
            "{} has none of its ports",
            model.name
        );
    }
}
