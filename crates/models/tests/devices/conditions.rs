//! Do parameters that have no effect say so, and is what a condition names there?

use lanetwin_models::MODELS;
use lanetwin_ports::{Condition, Dimension, Model, Params, Setting, Value};
use lanetwin_units::{Bytes, Span};

/// The parameters of a model by default.
fn defaults(model: &Model) -> Params {
    let mut params = Params::default();
    for param in model.all_params() {
        let value = match param.dimension {
            Dimension::Flag => Some(Value::Flag(param.default == Some("true"))),
            Dimension::Choice(_) => param.default.map(Value::Choice),
            Dimension::Count { .. } => param.default.and_then(|text| text.parse().ok()).map(Value::Count),
            _ => None,
        };
        params.0.extend(value.map(|value| (param.name, value)));
    }
    params
}

#[test]
fn conditions_are_about_parameters_that_there_are() {
    for (model, condition) in
        MODELS.iter().flat_map(|model| model.conditions.iter().map(move |one| (model, one)))
    {
        let names: Vec<&str> = model.all_params().map(|param| param.name).collect();
        assert!(names.contains(&condition.on), "{}", condition.on);
        for of in condition.of {
            let one = Condition { of: std::slice::from_ref(of), ..*condition };
            assert!(names.iter().any(|name| one.is_about(name)), "{of}");
        }
        if let (Setting::Word(word) | Setting::Not(word), Some(param)) =
            (condition.must_be, model.all_params().find(|p| p.name == condition.on))
        {
            assert!(matches!(param.dimension, Dimension::Choice(words) if words.contains(&word)), "{word}");
        }
    }
}

#[test]
fn what_is_switched_off_has_no_effect_and_what_is_on_has_one() {
    let mut params = defaults(&lanetwin_models::nvme_ssd::MODEL);
    let found = |params: &Params| {
        let all = lanetwin_models::nvme_ssd::MODEL.without_effect(params);
        move |name: &str| all.iter().find(|one| one.parameter == name).map(|one| one.why.clone())
    };
    let flash = found(&params);
    assert_eq!(flash("cross-point.read").as_deref(), Some("`medium` is not `cross-point`"));
    assert_eq!(flash("encryption.rate").as_deref(), Some("`encryption` is off"));
    assert_eq!(flash("ftl.slc.read").as_deref(), Some("`ftl.slc.blocks` is 0"));
    for effective in ["nand.read", "medium", "ftl.slc.blocks", "encryption", "nand.suspend.times"] {
        assert_eq!(flash(effective), None, "{effective}");
    }
    params.0.insert("medium", Value::Choice("cross-point"));
    params.0.insert("encryption", Value::Flag(true));
    let other = found(&params);
    assert_eq!((other("cross-point.read"), other("encryption.rate")), (None, None));
    assert!(other("nand.read").is_some() && other("ftl.slc.blocks").is_some());
}

#[test]
fn a_memory_host_tells_what_its_settings_leave_without_effect() {
    let model = &lanetwin_models::memory_host::MODEL;
    let mut params = defaults(model);
    params.0.insert("l2.size", Value::Size(Bytes(0)));
    let found = |params: &Params| {
        let all = model.without_effect(params);
        move |name: &str| all.iter().find(|one| one.parameter == name).map(|one| one.why.clone())
    };
    let timed = found(&params);
    assert_eq!(timed("dram.bandwidth").as_deref(), Some("`dram` is not `simple`"));
    assert_eq!(timed("socket.latency").as_deref(), Some("`sockets` is 1"));
    assert_eq!(timed("prefetch.depth").as_deref(), Some("`prefetch` is `off`"));
    assert_eq!(timed("l2.ways").as_deref(), Some("`l2.size` is 0"));
    assert_eq!(timed("tlb.walk").as_deref(), Some("`tlb.entries` is 0"));
    for effective in ["dram.channels", "dram.size", "l1.ways", "l2.size", "sockets", "uncore.spread"] {
        assert_eq!(timed(effective), None, "{effective}");
    }
    for (name, value) in [
        ("dram", Value::Choice("simple")),
        ("sockets", Value::Count(2)),
        ("prefetch", Value::Choice("next-line")),
        ("tlb.entries", Value::Count(64)),
    ] {
        params.0.insert(name, value);
    }
    let simple = found(&params);
    assert_eq!(simple("dram.channels").as_deref(), Some("`dram` is not `timed`"));
    assert_eq!(simple("prefetch.depth").as_deref(), Some("`prefetch` is not `stream`"));
    for effective in ["dram.size", "dram.bandwidth", "socket.latency", "prefetch.outstanding", "tlb.walk"] {
        assert_eq!(simple(effective), None, "{effective}");
    }
}

/// What a model says of these parameters, beside these settings; nothing of those that have an effect.
fn told(model: &Model, settings: &[(&'static str, Value)], names: &[&str]) -> Vec<Option<String>> {
    let mut params = defaults(model);
    params.0.extend(settings.iter().copied());
    let all = model.without_effect(&params);
    let why = |name: &&str| all.iter().find(|one| one.parameter == *name).map(|one| one.why.clone());
    names.iter().map(why).collect()
}

#[test]
fn an_adapter_tells_what_congestion_pauses_and_offload_leave_without_effect() {
    let model = &lanetwin_models::roce_nic::MODEL;
    let names =
        ["dcqcn.cnp-interval", "pause.response", "offload.poll", "pause", "roce.congestion", "offload"];
    let off = [
        "`roce.congestion` is not `dcqcn`".to_owned(),
        "`pause` is off".to_owned(),
        "`offload` is off".to_owned(),
    ];
    let mut expected: Vec<Option<String>> = off.into_iter().map(Some).collect();
    expected.extend([None, None, None]);
    assert_eq!(told(model, &[], &names), expected);
    let on = [
        ("roce.congestion", Value::Choice("dcqcn")),
        ("pause", Value::Flag(true)),
        ("offload", Value::Flag(true)),
    ];
    assert_eq!(told(model, &on, &names), [const { None }; 6]);
    let storm = |at| told(model, &[("pause.storm.at", Value::Time(at))], &["pause.storm.for"]);
    assert_eq!(storm(Span::ZERO), [Some("`pause.storm.at` is 0".to_owned())]);
    assert_eq!(storm(Span::from_us(1)), [None]);
}

#[test]
fn switches_tell_what_their_cores_marks_and_pauses_leave_without_effect() {
    let model = &lanetwin_models::switch::MODEL;
    let names = ["speed-up", "output.tlps", "output.data", "core"];
    let core = |word| told(model, &[("core", Value::Choice(word))], &names);
    let none = Some("`core` is `none`".to_owned());
    assert_eq!(core("none"), [none.clone(), none.clone(), none, None]);
    let memory = Some("`core` is `shared-memory`".to_owned());
    assert_eq!(core("shared-memory"), [None, memory.clone(), memory, None]);
    assert_eq!([core("crossbar"), core("shared-bus")], [const { [const { None }; 4] }; 2].map(Vec::from));

    let model = &lanetwin_models::ethernet_switch::MODEL;
    let names = ["pause.xoff", "pause.priority", "pause.response", "pause", "ecn.threshold.most"];
    let pause = |word| told(model, &[("pause", Value::Choice(word))], &names);
    let none = Some("`pause` is `none`".to_owned());
    assert_eq!(pause("none"), [none.clone(), none.clone(), none, None, None]);
    assert_eq!(pause("802.3x"), [None, Some("`pause` is not `pfc`".to_owned()), None, None, None]);
    assert_eq!(pause("pfc"), [const { None }; 5]);
    let watchdog = |word| {
        let settings = [("pause", Value::Choice("pfc")), ("pause.watchdog", Value::Choice(word))];
        told(model, &settings, &["pause.watchdog", "pause.watchdog.detection"])
    };
    assert_eq!(watchdog("off"), [None, Some("`pause.watchdog` is `off`".to_owned())]);
    assert_eq!(watchdog("drop"), [None, None]);
    let marks = |most| told(model, &[("ecn.threshold.most", Value::Size(Bytes(most)))], &["ecn.probability"]);
    assert_eq!(marks(0), [Some("`ecn.threshold.most` is 0".to_owned())]);
    assert_eq!(marks(100_000), [None]);
}

#[test]
fn memories_tell_that_only_the_adaptive_policy_waits_before_it_closes_a_row() {
    for model in [&lanetwin_models::cxl_expander::MODEL, &lanetwin_models::cxl_hybrid::MODEL] {
        let page =
            |word| told(model, &[("dram.page", Value::Choice(word))], &["dram.page-time", "dram.page"]);
        let idle = Some("`dram.page` is not `adaptive`".to_owned());
        assert_eq!([page("open"), page("closed")], [vec![idle.clone(), None], vec![idle, None]]);
        assert_eq!(page("adaptive"), [None, None]);
    }
    let initial = |word| {
        let settings = [("initial", Value::Choice(word))];
        told(&lanetwin_models::cxl_hybrid::MODEL, &settings, &["initial.size", "initial"])
    };
    assert_eq!(initial("empty"), [Some("`initial` is not `warm`".to_owned()), None]);
    assert_eq!(initial("warm"), [None, None]);
}
