// What comes by itself: figures and calls. Without it the page shows what there was when it was loaded.
// Texts of others are only ever set as text.
"use strict";
(() => {
  const rows = document.getElementById("rows");
  if (!rows) return;
  const most = Number(rows.dataset.most);
  const live = document.getElementById("live");
  const said = document.getElementById("said");
  const pause = document.getElementById("pause");
  let isPaused = false;
  let missed = 0;
  let unsaid = [];

  const make = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const makeCell = (className, ...inside) => {
    const cell = make("td", className);
    cell.setAttribute("role", "cell");
    cell.append(...inside);
    return cell;
  };

  const makeRow = (call) => {
    const row = make("tr");
    row.setAttribute("role", "row");
    row.dataset.call = call.call;
    const link = make("a", "", call.skill);
    link.href = call.href;
    const badge = make("span", "badge", call.outcome);
    badge.dataset.kind = call.outcome;
    row.append(
      makeCell("number", String(call.call)), makeCell("at", call.at), makeCell("skill", link), makeCell("client", call.client),
      makeCell("outcome", badge), makeCell("took", call.took),
      makeCell("denied", ...call.denials.map((text) => make("p", "", text))),
    );
    return row;
  };

  // A call that ends takes the place of its beginning; who is at its link stays there.
  const showCall = (call) => {
    const row = makeRow(call);
    const begun = rows.querySelector(`[data-call="${Number(call.call)}"]`);
    const isFocused = begun && begun.contains(document.activeElement);
    if (begun) begun.replaceWith(row); else rows.prepend(row);
    if (isFocused) row.querySelector("a").focus();
    while (rows.children.length > most) rows.lastElementChild.remove();
  };

  const showState = (words) => {
    const also = missed ? ` ${missed} events came too fast to be shown.` : "";
    live.textContent = `${words} Times are UTC.${also}`;
  };

  const figure = (attribute, name) => document.querySelector(`[data-${attribute}="${name}"]`);

  const source = new EventSource("/events");
  source.addEventListener("open", () => showState(isPaused ? "Paused." : "Live."));
  source.addEventListener("error", () => showState("Not connected: what is below may be old."));
  source.addEventListener("figures", (event) => {
    const { percentiles, ...numbers } = JSON.parse(event.data);
    for (const [name, value] of Object.entries(numbers)) figure("figure", name).textContent = value;
    for (const { name, text, width } of percentiles) {
      figure("percentile", name).textContent = text;
      figure("bar", name).setAttribute("width", width);
    }
  });
  source.addEventListener("calls", (event) => {
    if (isPaused) return;
    const batch = JSON.parse(event.data);
    missed += batch.missed;
    batch.rows.forEach(showCall);
    document.getElementById("none").hidden = true;
    unsaid.push(...batch.rows.filter((call) => call.outcome !== "running"));
    if (batch.missed) showState("Live.");
  });

  // A screen reader is told in one sentence now and then, not of each call.
  setInterval(() => {
    const last = unsaid.at(-1);
    if (last) {
      const denied = unsaid.filter((call) => call.denials.length).length;
      const also = denied ? `, ${denied} with denials` : "";
      said.textContent = `${unsaid.length} calls ended${also}. The last: ${last.skill}, ${last.outcome}, ${last.took}.`;
    }
    unsaid = [];
  }, 3000);

  pause.hidden = false;
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    showState(isPaused ? "Paused." : "Live.");
  });
})();
