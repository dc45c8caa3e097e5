"use strict";
// Elements as functions. Texts become text nodes, so no name of a file or a scenario can be an element.
const isNode = (one) => one instanceof Node;

function el(tag, attributes, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) found.setAttribute(name, value);
  }
  found.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (isNode(one) ? one : String(one))));
  return found;
}

const show = (place, ...children) => place.replaceChildren(...children.flat().filter(Boolean));

// A drawing of the server's for a screen, and the same for a phone. It has escaped every name in them, and what is read like this runs nothing.
function drawing(text) {
  const parsed = [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("svg")];
  return parsed.length ? parsed.map((one, nth) => el("div", { class: nth ? "narrow" : "wide" }, document.importNode(one, true)))
    : el("p", { class: "muted" }, "no drawing");
}

function say(text) { document.getElementById("said").textContent = text; }

function later(milliseconds, work) {
  let waiting = 0;
  return (...given) => { clearTimeout(waiting); waiting = setTimeout(() => work(...given), milliseconds); };
}

// On a phone, one of words is a list: a block for each row, with every value beside its name.
function table(heads, rows, name, words) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name },
    el("table", words ? { class: "words" } : {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, nth) =>
        el(nth ? "td" : "th", nth ? { "data-l": heads[nth] } : { scope: "row" }, cell)))))));
}
