"use strict";
// A run while it goes on: how far it is, what it has found so far, and Iometer's six charts of that.
function runView(place, key, path) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" }), what = el("p", { class: "muted", id: "what" }, "starting");
  const so = el("p", { id: "so-far" }), found = el("div", { id: "answer" }), end = el("p", { id: "end", role: "status" });
  const charts = display();
  const cancel = el("button", { type: "button", id: "cancel", onclick: async () => {
    cancel.disabled = true;
    try { await asked(`/api/runs/${key}/cancel`, {}); } catch (error) { say(error.message); }
  } }, "Cancel");
  show(place, el("h1", {}, path ? `Run of ${path}` : "Run"), el("div", { class: "progress" }, bar, cancel), what, end, so, charts.place, found);
  const events = new EventSource(`/api/runs/${key}/events`);
  const heard = (kind, work) => events.addEventListener(kind, (event) => work(JSON.parse(event.data)));
  const over = (text, bad) => { events.close(); cancel.hidden = true; end.className = bad ? "bad" : "good"; show(end, text); };
  heard("progress", (line) => {
    bar.value = ((line.round - 1) + (line.total ? line.done / line.total : 0)) / line.rounds;
    what.textContent = ["variant", "workload", "case"].map((one) => line[one]).filter(Boolean).join(" · ");
  });
  heard("results", (line) => {
    so.textContent = `After ${line.repeats} of ${line.of} repeats:`;
    charts.draw(line.bars);
    show(found, answerOf(line.workloads));
  });
  heard("done", (line) => {
    bar.value = 1;
    what.textContent = "";
    over([line.complete ? "Done: " : "Cancelled; what is finished is kept: ", el("a", { href: query("/report", { run: line.run }), target: "_blank", rel: "noopener" }, `open the report of ${line.run}`)]);
  });
  heard("failed", (line) => over([line.message], true));
  events.onerror = async () => {
    if (events.readyState !== EventSource.CLOSED) return;
    const known = await fetch(`/api/runs/${key}/events`, { method: "HEAD" }).then((answer) => answer.status !== 404, () => true);
    what.textContent = "";
    over([known ? "the server does not answer" : "there is no such run: the server was started anew, or it is long over"], true);
  };
  return () => events.close();
}
