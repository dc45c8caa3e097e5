"use strict";
// Which view an address is: the part behind "#", so that the back button leads back.
const VIEWS = {
  scenarios: folderView, edit: editView, new: newView, run: runView, compare: compareView, parts: partsView, part: partView, studies: studiesView,
};
let leave = null, turn = 0;

async function route() {
  const [name, ...words] = location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  const view = VIEWS[name] || folderView, main = document.getElementById("main"), own = ++turn;
  if (leave) leave();
  leave = null;
  for (const link of document.querySelectorAll("header.top nav a")) {
    if (link.getAttribute("href") === `#/${name || "scenarios"}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const place = el("div", { class: "view" });
  show(main, place);
  try {
    const found = await view(place, ...words);
    if (own === turn) leave = typeof found === "function" ? found : null;
    else if (typeof found === "function") found();
  } catch (error) { show(place, el("p", { class: "bad", role: "alert" }, error.message)); }
  document.title = `${place.querySelector("h1")?.textContent || "lanetwin"} · lanetwin`;
  document.body.dataset.ready = String(own);
}

window.addEventListener("hashchange", () => { route().then(() => document.getElementById("main").focus()); });
route();
