"use strict";
// Writing a scenario: checked while it is typed, completed from the schema, its machine and its sliders beside it.
let schemaKnown = null;

function editor(state) {
  const list = el("ul", { class: "completions", role: "listbox", id: "completions", hidden: true });
  const area = el("textarea", {
    id: "text", spellcheck: "false", autocapitalize: "off", "aria-label": "Scenario", "aria-controls": "completions",
    "aria-describedby": "keys", rows: 30,
  });
  area.value = state.text;
  let marked = 0;
  const close = () => { list.hidden = true; };
  const items = () => [...list.children];
  const mark = (nth) => {
    marked = (nth + items().length) % items().length;
    items().forEach((one, at) => one.setAttribute("aria-selected", String(at === marked)));
  };
  const take = (key, word) => {
    const at = area.selectionStart;
    area.setRangeText(`${key}: `, at - word.length, at, "end");
    close();
    area.focus();
    area.dispatchEvent(new Event("input"));
  };
  async function offer() {
    schemaKnown = schemaKnown || await asked("/api/schema");
    const { word, found } = completions(schemaKnown, area.value, area.selectionStart);
    if (!found.length) { close(); return; }
    show(list, found.map(([key, about]) => el("li", { role: "option", "data-key": key, onmousedown: (event) => { event.preventDefault(); take(key, word); } },
      el("strong", {}, key), " ", el("span", { class: "muted" }, about.slice(0, 110)))));
    list.hidden = false;
    list.dataset.word = word;
    mark(0);
  }
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) { event.preventDefault(); offer(); return; }
    if (list.hidden) {
      if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); state.save(); }
      return;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); mark(marked + (event.key === "ArrowDown" ? 1 : -1)); }
    else if (event.key === "Enter" || event.key === "Tab") { event.preventDefault(); take(items()[marked].dataset.key, list.dataset.word); }
    else if (event.key === "Escape") close();
  });
  area.addEventListener("blur", close);
  area.addEventListener("input", () => { state.text = area.value; state.changed(); if (!list.hidden) offer(); });
  return { area, place: el("div", { class: "editor" }, area, list,
    el("p", { id: "keys", class: "muted" }, "Ctrl+Space completes, Ctrl+S saves.")) };
}

function diagnosticsOf(found, area) {
  if (!found.length) return el("p", { class: "good" }, "No mistakes.");
  return el("ul", { class: "diagnostics" }, found.map((one) => el("li", { class: one.severity },
    el("button", { type: "button", class: "link", onclick: () => toLine(area, one.line) }, one.line ? `line ${one.line}` : "file"),
    " ", el("strong", {}, one.code), ` ${one.message}`, one.help ? el("span", { class: "muted" }, ` — ${one.help}`) : null)));
}

function toLine(area, line) {
  const lines = area.value.split("\n"), start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1] || "").length);
}

function sliderOf(one, moved, changed) {
  const now = moved.has(one.path) ? moved.get(one.path) : one.at;
  const value = el("output", {}, one.values[now]);
  const input = el("input", {
    type: "range", min: 0, max: one.values.length - 1, step: 1, value: now, "aria-label": one.label, "aria-valuetext": one.values[now],
    oninput: (event) => {
      const at = Number(event.target.value);
      moved.set(one.path, at);
      value.textContent = one.values[at];
      event.target.setAttribute("aria-valuetext", one.values[at]);
      changed();
    },
  });
  return el("label", { class: "slider" }, el("span", {}, one.label), input, value);
}

// What a second look leaves in doubt has the rates of the first one beside it, if those are not. Returns the workloads that have.
function firstRates(found, first) {
  const kept = [];
  for (const one of found.filter((other) => other.doubt)) {
    const before = first.find((other) => other.name === one.name && !other.doubt);
    if (!before || !before.lines.length) continue;
    one.doubt += `; the first look: ${before.lines.map((line) => `${line.metric} ${line.text}`).join(", ")}`;
    kept.push(one.name);
  }
  return kept;
}

function answerOf(found, before) {
  const old = new Map((before || []).flatMap((one) => one.lines.map((line) => [`${one.name}/${line.metric}`, line.value])));
  return el("div", { class: "tiles" }, found.map((one) => el("article", { class: "tile", "data-workload": one.name },
    el("h3", {}, one.name, " ", el("span", { class: "of" }, one.case)),
    el("dl", {}, one.lines.map((line) => {
      const was = old.get(`${one.name}/${line.metric}`), change = was ? line.value / was - 1 : 0;
      const sign = Math.abs(change) < 0.0005 ? "" : `${change > 0 ? "+" : "\u2212"}${Math.abs(change * 100).toFixed(1)} %`;
      return el("div", {}, el("dt", {}, line.metric), el("dd", {}, line.text, sign ? el("small", {}, ` ${sign}`) : null));
    })),
    one.doubt ? el("p", { class: "doubt" }, one.doubt) : null,
    el("p", { class: "binds", title: one.why }, el("span", { class: "muted" }, "limited by "), el("strong", {}, one.binds || "\u2026"),
      one.next ? el("span", { class: "muted" }, `; next: ${one.next}`) : null))));
}

async function editView(place, path, fresh) {
  const state = { path, text: fresh === undefined ? (await asked(query("/api/scenario", { path }))).text : fresh, moved: new Map(), variant: "", first: null };
  const found = el("div", { id: "found" }), picture = el("div", { id: "picture" }), controls = el("div", { id: "sliders" });
  const result = el("div", { id: "answer", "aria-live": "polite" }), took = el("p", { class: "muted", id: "took" });
  const check = latest(() => asked("/api/check", { path: state.path, text: state.text, variant: state.variant }));
  const ask = latest((sets, whole) => asked("/api/quick", { path: state.path, text: state.text, variant: state.variant, sets, whole }));
  let known = [];
  const sets = () => known.filter((one) => state.moved.has(one.path)).map((one) => `${one.path}=${one.values[state.moved.get(one.path)]}`);
  const quick = async () => {
    try {
      let answer = await ask(sets(), false);
      if (!answer) return;
      const tell = (said) => {
        if (!state.moved.size) state.first = answer.workloads;
        show(result, answerOf(answer.workloads, state.first));
        show(picture, drawing(answer.topology));
        took.textContent = `${said}: ${answer.seconds} s.`;
      };
      const less = answer.held.map((one) => `${one.workload} has ${one.at_once} at once instead of ${one.asked}`).join(", ");
      tell(less ? `A first look, in which ${less}. Latency follows` : "A short run of one repeat");
      if (!less) return;
      const first = answer;
      answer = await ask(sets(), true);
      if (!answer || answer.is_late) return;
      const kept = firstRates(answer.workloads, first.workloads);
      tell(`A short run of one repeat${kept.length ? `; what it says of ${kept.join(", ")} is not steady, and stands beside the first look's` : ""}`);
    } catch (error) { show(result, el("p", { class: "bad" }, error.message)); }
  };
  const soon = later(60, quick);
  const checkNow = async () => {
    const answer = await check();
    if (!answer) return;
    show(found, diagnosticsOf(answer.diagnostics, written.area));
    const names = answer.variants;
    known = answer.sliders || [];
    show(controls, names.length > 1 ? el("label", { class: "slider" }, el("span", {}, "variant"), el("select", {
      onchange: (event) => { state.variant = event.target.value; state.moved.clear(); state.first = null; checkNow(); },
    }, names.map((one) => el("option", { value: one, selected: one === state.variant }, one)))) : null,
    known.map((one) => sliderOf(one, state.moved, soon)),
    known.length ? el("button", { type: "button", onclick: () => { state.moved.clear(); checkNow(); } }, "Put back") : null);
    if (answer.topology) { show(picture, drawing(answer.topology)); quick(); }
  };
  state.changed = later(250, checkNow);
  state.save = async () => { await asked("/api/save", { path: state.path, text: state.text }); say(`${state.path} is saved.`); };
  const written = editor(state);
  const start = async () => {
    await state.save();
    const { run } = await asked("/api/runs", { path: state.path, sets: sets() });
    location.hash = `#/run/${run}/${encodeURIComponent(state.path)}`;
  };
  const guarded = (work) => async () => { try { await work(); } catch (error) { say(error.message); show(result, el("p", { class: "bad" }, error.message)); } };
  show(place, el("h1", {}, state.path), el("div", { class: "split" },
    el("section", { "aria-label": "Scenario" }, written.place, found,
      el("p", { class: "actions" }, el("button", { type: "button", id: "save", onclick: guarded(state.save) }, "Save"), " ",
        el("button", { type: "button", id: "run", class: "primary", onclick: guarded(start) }, "Save and run"))),
    el("section", { "aria-label": "What it does" }, picture, controls, result, took)));
  await checkNow();
}
