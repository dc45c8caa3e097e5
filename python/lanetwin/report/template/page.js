"use strict";
// What a page can do beyond being read: sort its tables, and hand a table or a command to the clipboard.
const isChinese = document.documentElement.lang.startsWith("zh");
const words = isChinese ? { copy: "复制", copied: "已复制", to: "复制到剪贴板" } : { copy: "copy", copied: "copied", to: "copy to the clipboard" };
const number = (text) => {
  const plain = text.replace(/[\u202f\u00a0]/g, "").replace(/\u2212/g, "-").replace(/\+/g, "");
  const found = /^-?\d+(\.\d+)?/.exec(plain.trim());
  return found ? Number(found[0]) : null;
};
const key = (row, column) => (row.cells[column] ? row.cells[column].innerText.trim() : "");

function sort(table, column, head) {
  const rising = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
  for (const body of table.tBodies) {
    const rows = [...body.rows].map((row) => ({ row, text: key(row, column), value: number(key(row, column)) }));
    rows.sort((a, b) =>
      a.value !== null && b.value !== null ? a.value - b.value : a.text.localeCompare(b.text, "en", { numeric: true }));
    if (!rising) rows.reverse();
    body.append(...rows.map((one) => one.row));
  }
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = words.copied;
  setTimeout(() => { button.textContent = words.copy; }, 1500);
}

const asText = (table) => [...table.rows]
  .map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s*\n\s*/g, " ").trim()).join("\t")).join("\n");

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.innerText.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, head));
    head.append(button);
  });
}
for (const place of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = words.copy;
  const what = place.querySelector("table") || place.querySelector("pre");
  if (!what) continue;
  button.setAttribute("aria-label", words.to);
  button.addEventListener("click", () => copy(what.tagName === "TABLE" ? asText(what) : what.innerText, button));
  place.prepend(button);
}
