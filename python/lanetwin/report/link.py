"""The report on a channel: one HTML file with its margins, eyes, figures and assumptions."""

from __future__ import annotations

from typing import Any

from lanetwin import engine
from lanetwin.language import HTML_NAMES, current
from lanetwin.numbers import fixed
from lanetwin.report import blocks, page
from lanetwin.report.figures import channel
from lanetwin.report.figures.channel import Segments, ratio
from lanetwin.sentences import naming, texts_under

__all__ = ["answer_sentence", "names_of", "ratio", "render", "segment_sentences", "stress_sentence"]


NAMES = (
    "name",
    "about",
    "path",
    "from",
    "to",
    "losses",
    "entry",
    "place",
    "source",
    "value",
    "element",
    "share",
    "after",
    "between",
)
"""Keys of names, notes and sources in an answer of the engine."""


def answer_sentence(answers: dict[str, Any]) -> str:
    """Describe whether a receiver, or the worst of several, meets the mask, and whether it operates."""
    meets = "meets the mask" if answers["meets_mask"] else "misses the mask"
    operates = "operates" if answers["operates"] else "does not operate as the standard asks"
    of_mask = f"{fixed(answers['mask_ratio'], 2)} of it"
    return f"{meets} ({of_mask}) and {operates} (BER {ratio(answers['ber'])} after decision feedback)"


def stress_sentence(eyes: dict[str, Any], stress: dict[str, Any]) -> str:
    """Describe the noise and jitter with which eyes of a rate were judged, and their origin."""
    segments = [
        segment
        for variant in eyes["variants"]
        if variant["rate"] == stress["rate"]
        for segment in variant["segments"]
    ]
    asked = ""
    if segments:
        mask = segments[0]
        size = f"{fixed(mask['mask_height_v'] * 1e3, 1)} mV, {fixed(mask['mask_width_ui'], 2)} UI"
        asked = f"Mask of {stress['rate']}: {size} at {ratio(mask['mask_ber'])}. "
    noise, random = fixed(stress["noise_v"] * 1e3, 2), fixed(stress["random_s"] * 1e12, 2)
    deterministic = fixed(stress["deterministic_s"] * 1e12, 2)
    judged = (
        f"{asked}Judged with {noise} mV of noise, {deterministic} ps of deterministic and {random} ps of "
        "random jitter, "
    )
    if not stress["calibrated"]:
        return f"{judged}those of the constants: engineering estimates."
    loss, height = fixed(stress["compliance_loss_db"], 1), fixed(stress["compliance_height_v"] * 1e3, 1)
    width = fixed(stress["compliance_width_ui"], 2)
    return f"{judged}with which a channel of {loss} dB is {height} mV high and {width} UI wide."


def segment_sentences(eyes: dict[str, Any]) -> list[str]:
    """Describe further influences on a verdict: coefficients, a redriver, neighbours, P and N."""
    return [
        f"{_name(variant, segment)}: {sentence}"
        for variant in eyes["variants"]
        for segment in variant["segments"]
        for sentence in _of_one(segment)
    ]


def _of_one(segment: dict[str, Any]) -> list[str]:
    sentences = [f"with {turned['instead']} it {answer_sentence(turned)}." for turned in segment["turned"]]
    if segment["coefficients"]:
        c = segment["coefficients"]
        taps = f"C−1 {c['before']}, C0 {c['main']}, C+1 {c['after']}"
        sentences.append(f"the transmitter is set by coefficients, {taps} of FS {c['full_swing']}.")
    if segment["redriver"]:
        redriver = segment["redriver"]
        lost = fixed(-redriver["compression_db"], 1)
        sentences.append(
            f"redriver {redriver['name']} loses {lost} dB of its gain at its highest voltage; an estimate, "
            "as an eye is linear."
        )
    if segment["aggressors"]:
        each = ", ".join(
            f"{a['name']} ({a['kind']} end, at {a['at']}) {fixed(a['rms_v'] * 1e3, 2)}"
            for a in segment["aggressors"]
        )
        alone = segment["alone"]
        size = f"{fixed(alone['height_v'] * 1e3, 1)} mV high and {fixed(alone['width_ui'], 3)} UI wide"
        sentences.append(
            f"neighbours leave at the sampler, in mV rms: {each}; without them the eye is {size}."
        )
    if segment["inverted"]:
        sentences.append("P and N are exchanged on the way, which the link undoes in Polling.")
    return sentences


def render(budget: dict[str, Any], eyes: dict[str, Any] | None, cycles: dict[str, Any] | None = None) -> str:
    """Return the report as one self-contained HTML document; without eyes, only of the budget.

    `cycles` is the section on stability cycles, if there were any.
    """
    easel = blocks.Easel()
    losses = [
        (_name(variant, segment), {**segment, "nyquist_hz": variant["nyquist_hz"]})
        for variant in budget["variants"]
        for segment in variant["segments"]
    ]
    said = "; ".join(
        f"{name}: {fixed(s['loss_db'], 1)} dB of {fixed(s['budget_db'], 1)} dB" for name, s in losses
    )
    figures = [
        easel.figure(channel.draw_loss, Segments("", "Transmission over frequency", f"{said}.", losses))
    ]
    by_segment = []
    if eyes:
        named = [
            (_name(variant, segment), segment)
            for variant in eyes["variants"]
            for segment in variant["segments"]
        ]
        if named:
            figures += _bathtubs(easel, named)
        by_segment = [(name, _of_segment(easel, name, segment)) for name, segment in named]
    with naming(names_of([budget, eyes, cycles and cycles["found"]])):
        rendered = (
            page.environment()
            .get_template("link.html.j2")
            .render(
                html_language=HTML_NAMES[current()],
                budget=budget,
                eyes=eyes,
                cycles=cycles,
                answers=_answers(budget, eyes),
                figures=figures,
                by_segment=by_segment,
                sentences=segment_sentences(eyes) if eyes else [],
                stress=[stress_sentence(eyes, stress) for stress in eyes["stress"]] if eyes else [],
                numbers=_numbers(budget, eyes),
                warnings=budget["warnings"]
                + [w for w in (eyes["warnings"] if eyes else []) if w not in budget["warnings"]],
                version=engine.version(),
                style=page.style(),
                ratio=ratio,
                fixed=fixed,
            )
        )
        return page.in_language(rendered)


def names_of(found: Any) -> set[str]:
    """Return the names given by a channel's author, and notes and sources of numbers."""
    return texts_under(found, *NAMES)


def _name(variant: dict[str, Any], segment: dict[str, Any]) -> str:
    several = len(variant["segments"]) > 1
    return f"{variant['name']} {segment['segment'] + 1}" if several else str(variant["name"])


def _bathtubs(easel: blocks.Easel, named: list[tuple[str, dict[str, Any]]]) -> list[blocks.Figure]:
    said = "; ".join(f"{name}: width {fixed(s['width_ui'], 3)} UI" for name, s in named)
    tall = "; ".join(f"{name}: height {fixed(s['height_v'] * 1e3, 1)} mV" for name, s in named)
    return [
        easel.figure(channel.draw_bathtub_time, Segments("", "Bathtub in time", f"{said}.", named)),
        easel.figure(channel.draw_bathtub_voltage, Segments("", "Bathtub in voltage", f"{tall}.", named)),
    ]


def _of_segment(easel: blocks.Easel, name: str, segment: dict[str, Any]) -> list[blocks.Figure]:
    alone = [(name, segment)]
    main = max(v for _, v in segment["pulse"]) * 1e3
    height, width = fixed(segment["height_v"] * 1e3, 1), fixed(segment["width_ui"], 3)
    return [
        easel.figure(
            channel.draw_eye,
            Segments(
                "", "Eye: openings at bit error ratios", f"{name}: {height} mV high, {width} UI wide.", alone
            ),
        ),
        easel.figure(
            channel.draw_pulse,
            Segments(
                "", "Pulse response before the DFE", f"{name}: {fixed(main, 1)} mV at its highest.", alone
            ),
        ),
    ]


def _answers(budget: dict[str, Any], eyes: dict[str, Any] | None) -> list[dict[str, str]]:
    """Describe for each variant whether it fits its budget and whether its eyes are open."""
    open_ = {variant["name"]: variant for variant in (eyes["variants"] if eyes else [])}
    answers = []
    for variant in budget["variants"]:
        least = min(segment["margin_db"] for segment in variant["segments"])
        words = {
            "fits": f"fits its loss budget with {fixed(least, 1)} dB to spare",
            "tight": f"fits its loss budget with only {fixed(least, 1)} dB to spare, less than is to be kept",
            "exceeds": f"exceeds its loss budget by {fixed(-least, 1)} dB",
        }
        sentence = f"It {words[variant['verdict']]}"
        good = variant["verdict"] != "exceeds"
        if variant["name"] in open_:
            of = open_[variant["name"]]
            closed = [segment for segment in of["segments"] if not segment["passes"]]
            good = of["passes"]
            sentence += (
                "; every eye meets the mask"
                if of["passes"]
                else f"; {len(closed)} of {len(of['segments'])} eyes fail the mask"
            )
        answers.append(
            {"subject": variant["name"], "good": "better" if good else "worse", "text": f"{sentence}."}
        )
    return answers


def _numbers(budget: dict[str, Any], eyes: dict[str, Any] | None) -> list[list[str]]:
    """List every number with its kind, confidence and source."""
    rows = []
    for rate, numbers in {v["rate"]: v["budget"] for v in budget["variants"]}.items():
        rows += [[f"budget {rate}", place, *_origin(number)] for place, number in numbers.items()]
    rows += [[used["entry"], used["place"], *_origin(used["number"])] for used in budget["numbers"]]
    for number in eyes["numbers"] if eyes else []:
        rows.append([number["rate"], number["place"], number["value"], number["kind"], "", number["source"]])
    return rows


def _origin(number: dict[str, Any]) -> list[str]:
    return [number["value"], number["kind"], number["confidence"], number["source"]]
