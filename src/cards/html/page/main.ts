import { analysisOf, criticalOf } from "../analysis.ts";
import { matchesCard, matchesSample } from "../filter.ts";
import { overviewOf } from "../overview.ts";
import type { PageData } from "../page-data.ts";
import { type PageSample, RunModel, type SeenCard } from "../run-model.ts";
import { announce, byId, html } from "./dom.ts";
import { Filters } from "./filters.ts";
import { dagView } from "./graph-view.ts";
import { headerOf } from "./header.ts";
import { inspectorOf } from "./inspector.ts";
import { listen } from "./live.ts";
import { hashOf, type Place, placeOf, type View, VIEWS } from "./place.ts";
import { runPanel } from "./run-panel.ts";
import { sampleHead } from "./sample-head.ts";
import { SampleList } from "./sample-list.ts";
import { sequenceView, type Shown } from "./sequence-view.ts";
import { tableView } from "./table-view.ts";
import { toggleTheme } from "./theme.ts";
import { timelineView } from "./timeline-view.ts";
import { count, some } from "./words.ts";

const NAMES: Readonly<Record<View, string>> = {
  sequence: "Sequence",
  timeline: "Timeline",
  graph: "Graph",
  table: "Table",
};

// The text of the page's own build.
const data = JSON.parse(byId("recording").textContent ?? "") as PageData;
let model = RunModel.of(data);
let place: Place = placeOf(location.hash);
/** What the middle shows; drawn again only when that has changed. */
let drawn = "";
let isConnected = true;

const filters = new Filters(() => show());
const list = new SampleList((sample) => go({ sample, card: undefined }));
byId("filters").append(filters.element);

function go(to: Partial<Place>): void {
  place = { ...place, ...to };
  const hash = hashOf(place);
  if (hash !== location.hash) history.replaceState(undefined, "", hash === "#" ? " " : hash);
  show();
}

/** Everything as it is now; what has not changed stays as it is. */
function show(): void {
  const { filter } = filters;
  const samples = model.samples.filter((sample) => isShown(sample) && matchesSample(sample, filter));
  list.show(samples, place.sample);
  const total = model.samples.filter(isShown).length;
  const matches =
    samples.length === total
      ? some(total, "problem")
      : `${count(samples.length)} of ${some(total, "problem")}`;
  if (byId("matches").textContent !== matches) byId("matches").textContent = matches;
  byId("whole").setAttribute("aria-pressed", String(place.sample === undefined));
  const sample = place.sample === undefined ? undefined : model.sample(place.sample);
  document.body.dataset["looks"] = sample ? "sample" : "run";
  if (sample) showSample(sample);
  else showRun(samples);
}

/** Lines without a problem have a row only when there are any. */
function isShown({ id, cards }: PageSample): boolean {
  return id !== "" || cards.length > 0;
}

function showSample(sample: PageSample): void {
  const chosen = place.card === undefined ? undefined : sample.cards[place.card - 1];
  const room = byId("picture").clientWidth - 2;
  const key = JSON.stringify([
    sample.id,
    sample.version,
    place.card,
    place.view,
    room,
    place.view === "table" ? filters.filter : 0,
  ]);
  if (key === drawn) return;
  drawn = key;
  byId("head").replaceChildren(...sampleHead(sample, analysisOf(sample, model)));
  showTabs();
  const choose = (seen: SeenCard): void => {
    go({ card: sample.cards.indexOf(seen) + 1 });
    focusCard();
  };
  const shown: Shown = { cards: sample.cards, chosen, critical: criticalOf(sample, model), choose, room };
  const picture = byId("picture");
  const { scrollLeft, scrollTop } = picture;
  picture.replaceChildren(pictureOf(shown, sample));
  picture.scrollTo(scrollLeft, scrollTop);
  byId("card").replaceChildren(
    ...(chosen
      ? inspectorOf(sample, chosen, choose)
      : [html("p", { class: "hint" }, "Choose a card to see all of it. ← and → walk through the cards.")]),
  );
}

function pictureOf(shown: Shown, sample: PageSample): Element {
  if (sample.cards.length === 0) return html("p", { class: "hint" }, "There is no card of this problem yet.");
  return PICTURES[place.view](shown, sample);
}

const PICTURES: Readonly<Record<View, (shown: Shown, sample: PageSample) => Element>> = {
  sequence: sequenceView,
  timeline: timelineView,
  graph: dagView,
  table: (shown, sample) =>
    tableView(
      sample.cards
        .map((seen, at) => ({ sample, seen, number: at + 1 }))
        .filter(({ seen }) => matchesCard(seen, sample, { ...filters.filter, text: "" })),
      shown.chosen,
      ({ seen }) => shown.choose(seen),
    ),
};

function showRun(samples: readonly PageSample[]): void {
  const view: View = place.view === "table" ? "table" : "sequence";
  const key = JSON.stringify(["run", model.cards, model.calls, overview.done, view, filters.filter]);
  if (key === drawn) return;
  drawn = key;
  const picture = byId("picture");
  byId("head").replaceChildren();
  byId("card").replaceChildren();
  showTabs();
  if (view === "table") {
    const rows = samples.flatMap((sample) =>
      sample.cards
        .map((seen, at) => ({ sample, seen, number: at + 1 }))
        .filter(({ seen }) => matchesCard(seen, sample, filters.filter)),
    );
    picture.replaceChildren(
      tableView(rows, undefined, ({ sample, number }) =>
        go({ sample: sample.id, card: number, view: "sequence" }),
      ),
    );
  } else picture.replaceChildren(...runPanel(overview, samples, (sample) => go({ sample, card: undefined })));
}

function showTabs(): void {
  const views = place.sample === undefined ? (["sequence", "table"] as const) : VIEWS;
  byId("tabs").replaceChildren(
    ...views.map((view) => {
      const isOn = place.view === view || (view === "sequence" && !views.some((one) => one === place.view));
      return html(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${view}`,
          "aria-selected": String(isOn),
          "aria-controls": "picture",
          tabindex: isOn ? 0 : -1,
          onclick: () => {
            go({ view });
            byId(`tab-${view}`).focus();
          },
        },
        place.sample === undefined && view === "sequence" ? "Overview" : NAMES[view],
      );
    }),
  );
}

let overview = overviewOf(model);

/** After the run has changed. */
function refresh(): void {
  overview = overviewOf(model);
  filters.know(model);
  byId("run").replaceChildren(...headerOf(model, overview, data.title, data.live !== undefined));
  byId("run").classList.toggle("away", !isConnected);
  document.title = `${model.run?.run_id ?? data.title} · cards`;
  show();
}

function focusCard(): void {
  document.querySelector<SVGElement>("#picture [aria-pressed=true]")?.focus();
}

/** Which card comes so many after the one that is chosen. */
function walk(steps: number): void {
  const cards = place.sample === undefined ? 0 : (model.sample(place.sample)?.cards.length ?? 0);
  if (cards === 0) return;
  go({ card: Math.min(cards, Math.max(1, (place.card ?? (steps > 0 ? 0 : cards + 1)) + steps)) });
  const chosen = document.querySelector("#picture [aria-pressed=true]");
  chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
  announce(chosen?.getAttribute("aria-label") ?? "");
}

const KEYS: Readonly<Record<string, () => void>> = {
  j: () => list.move(1),
  k: () => list.move(-1),
  ArrowDown: () => list.move(1),
  ArrowUp: () => list.move(-1),
  l: () => walk(1),
  h: () => walk(-1),
  ArrowRight: () => walk(1),
  ArrowLeft: () => walk(-1),
  "/": () => filters.search.focus(),
  t: () => announce(`${toggleTheme()} theme`),
  o: () => go({ sample: undefined, card: undefined, view: "sequence" }),
  "1": () => go({ view: "sequence" }),
  "2": () => go({ view: "timeline" }),
  "3": () => go({ view: "graph" }),
  "4": () => go({ view: "table" }),
  Escape: () => (place.card === undefined ? go({ sample: undefined }) : go({ card: undefined })),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (isTyping) {
    if (event.key !== "Escape" && !(event.key === "ArrowDown" && target === filters.search)) return;
    if (event.key === "Escape") filters.clear();
    byId("samples").focus();
    show();
    if (event.key === "Escape") return;
  }
  // Tabs are walked through as tabs are.
  if (target instanceof HTMLElement && target.role === "tab" && /^Arrow(Left|Right)$/.test(event.key)) {
    const tabs = [...byId("tabs").querySelectorAll<HTMLElement>("[role=tab]")];
    const at = tabs.indexOf(target) + (event.key === "ArrowRight" ? 1 : -1);
    event.preventDefault();
    tabs.at(at % tabs.length)?.click();
    return;
  }
  // Whoever reads the JSON scrolls with the arrows.
  if (target instanceof Element && target.closest(".table-body, .raw") && event.key.startsWith("Arrow"))
    return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
addEventListener("hashchange", () => {
  place = placeOf(location.hash);
  show();
});
new ResizeObserver(() => show()).observe(byId("picture"));
byId("whole").addEventListener("click", () =>
  go({ sample: undefined, card: undefined, view: place.view === "table" ? "table" : "sequence" }),
);
byId("theme").addEventListener("click", () => announce(`${toggleTheme()} theme`));

refresh();
document.body.dataset["ready"] = "true";

if (data.live !== undefined) {
  let isDue = false;
  let pause = 100;
  // However many lines come, the page is drawn a few times a second, and a large one no more than a fifth of the time.
  const due = (): void => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      const began = performance.now();
      isDue = false;
      refresh();
      pause = Math.max(100, 4 * (performance.now() - began));
    }, pause);
  };
  listen(data.live, {
    lines: (lines) => {
      for (const line of lines) model.add(line);
      due();
    },
    torn: (lines) => {
      model.torn += lines;
      due();
    },
    reset: () => {
      model = new RunModel();
      due();
    },
    connected: (isThere) => {
      if (isThere === isConnected) return;
      isConnected = isThere;
      announce(isThere ? "Connected again." : "The connection is lost; trying again.");
      due();
    },
  });
}
