"use strict";
// Iometer's display: six bar charts, each of a metric that its reader chooses.
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, text) {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  if (text !== undefined) found.textContent = text;
  return found;
}

// A name that is longer than there is room keeps its beginning; a reader who points at it has all of it.
function named(attributes, whole) {
  const most = 60, drawn = svg("text", attributes, whole.length > most ? `${whole.slice(0, most - 1).trimEnd()}\u2026` : whole);
  if (whole.length > most) drawn.append(svg("title", {}, whole));
  return drawn;
}

function bars(rows, name) {
  const width = 360, step = 34, most = Math.max(...rows.map((row) => row.value), 0);
  const height = rows.length * step + 4;
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "bars" });
  drawn.append(svg("title", {}, name));
  const who = [...new Set(rows.map((row) => row.who))];
  rows.forEach((row, nth) => {
    const y = nth * step, long = most > 0 ? Math.max(1, (row.value / most) * (width - 92)) : 1;
    drawn.append(
      named({ x: 0, y: y + 11, class: "who" }, [row.who, row.target, row.case].filter(Boolean).join(", ")),
      svg("rect", { x: 0, y: y + 15, width: long, height: 12, class: `bar s${who.indexOf(row.who) % 6}` }),
      svg("text", { x: long + 6, y: y + 25, class: "value" }, row.text));
  });
  return drawn;
}

// The display as a whole; it keeps what its reader has chosen when new values come.
function display() {
  const place = el("div", { class: "display" }), chosen = [];
  let scope = "";
  const rowsOf = (found, metric) => {
    const rows = found.metrics[metric] || [];
    const own = rows.filter((row) => (scope === "" ? !row.target : scope === "*" ? row.target : row.target === scope));
    return (own.length ? own : rows.filter((row) => !row.target)).slice(0, 12);
  };
  function draw(found) {
    const names = Object.keys(found.metrics);
    found.charts.forEach((name, nth) => { if (!names.includes(chosen[nth])) chosen[nth] = name; });
    const scopes = el("label", { class: "scope" }, "shown for ",
      el("select", { onchange: (event) => { scope = event.target.value; draw(found); } },
        [["", "all together"], ["*", "each of them"], ...found.targets.map((one) => [one, one])].map(([value, text]) =>
          el("option", { value, selected: value === scope }, text))));
    show(place, found.targets.length ? scopes : null, el("div", { class: "charts" },
      chosen.slice(0, names.length).map((name, nth) => el("figure", { class: "chart" },
        el("figcaption", {}, el("select", {
          "aria-label": `Metric of chart ${nth + 1}`,
          onchange: (event) => { chosen[nth] = event.target.value; draw(found); },
        }, names.map((one) => el("option", { value: one, selected: one === name }, one)))),
        bars(rowsOf(found, name), name)))));
  }
  return { place, draw };
}
