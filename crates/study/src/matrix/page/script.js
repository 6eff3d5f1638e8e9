"use strict";
const table = document.getElementById("matrix");
const body = table.tBodies[0];
const skills = [...body.querySelectorAll(".skill")];
const evidenceOf = (row) => row.nextElementSibling;
const pairs = skills.map((row) => [row, evidenceOf(row)]);

// The narrow layout has no heading row: each cell says what it is.
for (const cell of body.querySelectorAll(".skill > *")) cell.firstElementChild.dataset.label = cell.dataset.label;

function show(row, part) {
  const panel = row && pairs.find((pair) => pair[0] === row)[1];
  for (const [other, evidence] of pairs) {
    const open = other === row && part !== null;
    evidence.hidden = !open;
    other.classList.toggle("open", open);
    for (const button of other.querySelectorAll("button")) button.setAttribute("aria-expanded", String(open));
  }
  if (!row || part === null) return;
  for (const section of panel.querySelectorAll("[data-part]")) section.classList.toggle("here", section.dataset.part === part);
  const section = panel.querySelector(`[data-part="${part}"]`) || panel;
  section.scrollIntoView({ block: "nearest" });
}

body.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const evidence = button.closest(".evidence");
  if (evidence) {
    if ("close" in button.dataset) closeAll(pairs.find((pair) => pair[1] === evidence)[0]);
    return;
  }
  const row = button.closest(".skill");
  const part = button.dataset.opens;
  if (row.classList.contains("open") && row.dataset.part === part) return closeAll(row);
  row.dataset.part = part;
  history.replaceState(null, "", `#${row.id}`);
  show(row, part);
});

function closeAll(row) {
  show(row, null);
  row.querySelector("button").focus();
}

document.addEventListener("keydown", (event) => {
  const row = event.key === "Escape" && skills.find((one) => one.classList.contains("open"));
  if (row) closeAll(row);
});

// What is empty is last, in either order.
function compareKeys(one, other, numeric, sign) {
  if (one === "" || other === "") return (one === "") - (other === "");
  return sign * (numeric ? Number(one) - Number(other) : one.localeCompare(other));
}

table.tHead.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const head = button.closest("th");
  const column = Number(button.dataset.column);
  const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const one of table.tHead.querySelectorAll("th")) one.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const key = (pair) => pair[0].children[column].dataset.key;
  const numeric = button.dataset.sorts === "number";
  const name = (pair) => pair[0].children[0].dataset.key;
  pairs.sort((a, b) => compareKeys(key(a), key(b), numeric, sign) || compareKeys(name(a), name(b), false, 1));
  for (const pair of pairs) body.append(...pair);
});

const form = document.getElementById("filters");
const find = document.getElementById("find");
const kind = document.getElementById("kind");
const odd = document.getElementById("odd");
function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdicts = [...form.querySelectorAll("fieldset input:checked")].map((box) => box.value);
  let shown = 0;
  for (const [row, evidence] of pairs) {
    const data = row.dataset;
    const fits =
      words.every((word) => data.words.includes(word)) &&
      (verdicts.length === 0 || verdicts.includes(data.verdict)) &&
      (kind.value === "" || data.kinds.split("|").includes(kind.value)) &&
      (!odd.checked || data.odd === "true");
    row.hidden = !fits;
    evidence.hidden = !fits || !row.classList.contains("open");
    shown += fits;
  }
  document.getElementById("none").hidden = shown > 0;
  document.getElementById("count").textContent = shown === pairs.length ? `${shown} skills` : `${shown} of ${pairs.length} skills`;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();

// A link to a skill leads to its row, whatever is filtered, and opens it.
function follow() {
  const row = skills.find((one) => `#${one.id}` === decodeURIComponent(location.hash));
  if (!row) return;
  if (row.hidden) {
    form.reset();
    filter();
  }
  row.dataset.part = "verdict";
  show(row, "verdict");
  row.scrollIntoView({ block: "start" });
}
window.addEventListener("hashchange", follow);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) follow();
});
follow();
