"use strict";
// What there is to look at: the folder, two runs compared, parts with their sources, studies.
const reports = (folders) => el("ul", { class: "files" }, folders.map((one) => el("li", {},
  el("a", { href: query("/report", { run: one }), target: "_blank", rel: "noopener" }, one))));

async function folderView(place) {
  const [{ scenarios, runs, sweeps }, templates] = await Promise.all([asked("/api/folder"), asked("/api/templates")]);
  const name = el("input", { id: "new-name", value: "my-machine.yaml", "aria-label": "Name of the new scenario" });
  const from = el("select", { id: "new-from", "aria-label": "Template" }, templates.map((one) => el("option", { value: one.name }, `${one.name}: ${one.about || ""}`)));
  const start = () => { location.hash = `#/new/${encodeURIComponent(from.value)}/${encodeURIComponent(name.value)}`; };
  show(place, el("h1", {}, "Scenarios"),
    el("form", { class: "actions", onsubmit: (event) => { event.preventDefault(); start(); } }, el("label", {}, "New scenario ", name), " from ", from, " ", el("button", {}, "Write it")),
    scenarios.length ? el("ul", { class: "files" }, scenarios.map((one) => el("li", {}, el("a", { href: `#/edit/${encodeURIComponent(one)}` }, one))))
      : el("p", {}, "There is no scenario in this folder yet."),
    el("h2", {}, "Runs"), runs.length ? reports(runs) : el("p", {}, "Nothing has been run here."),
    el("h2", {}, "Sweeps and searches"), sweeps.length ? reports(sweeps) : el("p", {}, "None was made here: ", el("code", {}, "lanetwin sweep SCENARIO"), "."));
}

async function newView(place, template, path) {
  const found = (await asked("/api/templates")).find((one) => one.name === template);
  await editView(place, path, found ? found.text : "");
}

async function compareView(place) {
  const { runs } = await asked("/api/folder");
  const pick = (id, name, nth) => el("label", {}, `${name} `, el("select", { id }, runs.map((one, at) => el("option", { value: one, selected: at === nth }, one))));
  const result = el("div", { id: "compared", "aria-live": "polite" });
  const compare = async () => {
    try {
      const found = await asked(query("/api/compare", { a: place.querySelector("#a").value, b: place.querySelector("#b").value }));
      const judged = (one) => found.lines.some((line) => line.verdicts[one]);
      const heads = ["workload", "case", "metric", ...found.variants.flatMap((one) => (judged(one) ? [one, "change", "95 % interval", "verdict"] : [one]))];
      show(result, table(heads, found.lines.map((line) => [line.workload, line.case, line.metric, ...found.variants.flatMap((one) => {
        const verdict = line.verdicts[one] || {};
        const cells = [line.values[one] || "–"];
        return judged(one) ? [...cells, verdict.change || "", verdict.interval || "", verdict.verdict ? el("span", { class: `chip v-${verdict.verdict}` }, verdict.verdict) : ""] : cells;
      })]), "Comparison"));
    } catch (error) { show(result, el("p", { class: "bad" }, error.message)); }
  };
  show(place, el("h1", {}, "Compare two runs"), runs.length < 2 ? el("p", {}, "It takes two runs in this folder.")
    : el("form", { class: "actions", onsubmit: (event) => { event.preventDefault(); compare(); } }, pick("a", "baseline", 1), " ", pick("b", "beside it", 0), " ", el("button", {}, "Compare")), result);
}

async function partsView(place) {
  const parts = await asked("/api/parts");
  const body = el("div", {});
  const list = (word) => show(body, table(["part", "kind", "about", "trusted"], parts
    .filter((one) => `${one.name} ${one.kind} ${one.about}`.toLowerCase().includes(word.toLowerCase()))
    .map((one) => [el("a", { href: `#/part/${encodeURIComponent(one.name)}` }, one.name), one.kind, one.about, one.grade]), "Parts", true));
  show(place, el("h1", {}, "Parts"), el("label", {}, "Find ", el("input", { type: "search", id: "find", oninput: (event) => list(event.target.value) })), body);
  list("");
}

async function partView(place, name) {
  const part = await asked(`/api/parts/${encodeURIComponent(name)}`);
  show(place, el("h1", {}, part.name), el("p", {}, part.about), el("p", { class: "muted" }, `${part.model}; ${part.grade}${part.validated ? `; ${part.validated}` : ""}`),
    table(["parameter", "value", "kind", "source", "note"], (part.parameters || []).map((one) => [one.parameter, one.value, one.kind, one.source, one.note]), "Parameters", true));
}

async function studiesView(place) {
  const studies = await asked("/api/studies");
  show(place, el("h1", {}, "Studies"), el("p", {}, "A study joins scenarios, channels and stability cycles to a document. It is made on the command line."),
    table(["study", "question", "command"], studies.map((one) => [one.name, one.question, el("code", {}, one.command)]), "Studies", true));
}
