import {
  analyzeCriticalPathAndFindings,
  collectCriticalCards,
} from "../sample-critical-path-and-findings.ts";
import { matchesCard, matchesSample } from "../card-filter.ts";
import { summarizeRun } from "../run-statistics.ts";
import type { PageData } from "../page-data.ts";
import { type PageSample, RunModel, type PageCard } from "../run-model.ts";
import { announceToScreenReader, requireElementById, createElement } from "./dom.ts";
import { FilterForm } from "./filter-form.ts";
import { renderCardDag } from "./graph-view.ts";
import { renderRunHeader } from "./run-header.ts";
import { renderCardInspector } from "./card-inspector.ts";
import { subscribeToLiveEvents } from "./live-events.ts";
import { formatViewHash, type ViewState, parseViewHash, type ViewName, VIEW_NAMES } from "./view-state.ts";
import { renderRunOverview } from "./run-overview.ts";
import { renderSampleHeader } from "./sample-header.ts";
import { SampleList } from "./sample-list.ts";
import { renderSequenceView, type SampleViewProps } from "./sequence-view.ts";
import { renderTableView } from "./table-view.ts";
import { toggleTheme } from "./theme.ts";
import { renderTimelineView } from "./timeline-view.ts";
import { formatCount, pluralize } from "./text-format.ts";

const VIEW_LABELS: Readonly<Record<ViewName, string>> = {
  sequence: "Sequence",
  timeline: "Timeline",
  graph: "Graph",
  table: "Table",
};

// The same build of Colloquy created this data.
const pageData = JSON.parse(requireElementById("recording").textContent ?? "") as PageData;
let runModel = RunModel.fromPageData(pageData);
let viewState: ViewState = parseViewHash(location.hash);
/** Key of the displayed content. The content is rendered again only if the key changes. */
let renderedContentKey = "";
let isLiveStreamConnected = true;

const filterForm = new FilterForm(() => renderReportPage());
const sampleList = new SampleList((sample) => updateViewState({ sampleId: sample, cardNumber: undefined }));
requireElementById("filters").append(filterForm.element);

function updateViewState(to: Partial<ViewState>): void {
  viewState = { ...viewState, ...to };
  const hash = formatViewHash(viewState);
  if (hash !== location.hash) history.replaceState(undefined, "", hash === "#" ? " " : hash);
  renderReportPage();
}

/** Renders the elements of the page whose state changed. */
function renderReportPage(): void {
  const { filter } = filterForm;
  const samples = runModel.samples.filter(
    (sample) => hasSampleIdOrCards(sample) && matchesSample(sample, filter),
  );
  sampleList.render(samples, viewState.sampleId);
  const total = runModel.samples.filter(hasSampleIdOrCards).length;
  const matches =
    samples.length === total
      ? pluralize(total, "problem")
      : `${formatCount(samples.length)} of ${pluralize(total, "problem")}`;
  if (requireElementById("matches").textContent !== matches)
    requireElementById("matches").textContent = matches;
  requireElementById("whole").setAttribute("aria-pressed", String(viewState.sampleId === undefined));
  const sample = viewState.sampleId === undefined ? undefined : runModel.findSample(viewState.sampleId);
  document.body.dataset["looks"] = sample ? "sample" : "run";
  if (sample) renderSelectedSample(sample);
  else renderRun(samples);
}

function hasSampleIdOrCards({ id, cards }: PageSample): boolean {
  return id !== "" || cards.length > 0;
}

function renderSelectedSample(sample: PageSample): void {
  const selectedCard =
    viewState.cardNumber === undefined ? undefined : sample.cards[viewState.cardNumber - 1];
  const room = requireElementById("picture").clientWidth - 2;
  const key = JSON.stringify([
    sample.id,
    sample.version,
    viewState.cardNumber,
    viewState.view,
    room,
    viewState.view === "table" ? filterForm.filter : 0,
  ]);
  if (key === renderedContentKey) return;
  renderedContentKey = key;
  requireElementById("head").replaceChildren(
    ...renderSampleHeader(sample, analyzeCriticalPathAndFindings(sample, runModel)),
  );
  renderTabs();
  const choose = (seen: PageCard): void => {
    updateViewState({ cardNumber: sample.cards.indexOf(seen) + 1 });
    focusSelectedCard();
  };
  const shown: SampleViewProps = {
    cards: sample.cards,
    selectedCard,
    criticalCards: collectCriticalCards(sample, runModel),
    onSelect: choose,
    width: room,
  };
  const picture = requireElementById("picture");
  const { scrollLeft, scrollTop } = picture;
  picture.replaceChildren(renderSampleView(shown, sample));
  picture.scrollTo(scrollLeft, scrollTop);
  requireElementById("card").replaceChildren(
    ...(selectedCard
      ? renderCardInspector(sample, selectedCard, choose)
      : [
          createElement(
            "p",
            { class: "hint" },
            "Select a card to see its details. Use ← and → to move between cards.",
          ),
        ]),
  );
}

function renderSampleView(shown: SampleViewProps, sample: PageSample): Element {
  if (sample.cards.length === 0)
    return createElement("p", { class: "hint" }, "This problem has no cards yet.");
  return VIEW_RENDERERS[viewState.view](shown, sample);
}

const VIEW_RENDERERS: Readonly<Record<ViewName, (shown: SampleViewProps, sample: PageSample) => Element>> = {
  sequence: renderSequenceView,
  timeline: renderTimelineView,
  graph: renderCardDag,
  table: (shown, sample) =>
    renderTableView(
      sample.cards
        .map((seen, at) => ({ sample, pageCard: seen, cardNumber: at + 1 }))
        .filter(({ pageCard }) => matchesCard(pageCard, sample, { ...filterForm.filter, text: "" })),
      shown.selectedCard,
      ({ pageCard }) => shown.onSelect(pageCard),
    ),
};

function renderRun(samples: readonly PageSample[]): void {
  const view: ViewName = viewState.view === "table" ? "table" : "sequence";
  const key = JSON.stringify([
    "run",
    runModel.cardCount,
    runModel.callCount,
    runStatistics.samples.done + runStatistics.samples.skipped,
    view,
    filterForm.filter,
  ]);
  if (key === renderedContentKey) return;
  renderedContentKey = key;
  const picture = requireElementById("picture");
  requireElementById("head").replaceChildren();
  requireElementById("card").replaceChildren();
  renderTabs();
  if (view === "table") {
    const rows = samples.flatMap((sample) =>
      sample.cards
        .map((seen, at) => ({ sample, pageCard: seen, cardNumber: at + 1 }))
        .filter(({ pageCard }) => matchesCard(pageCard, sample, filterForm.filter)),
    );
    picture.replaceChildren(
      renderTableView(rows, undefined, ({ sample, cardNumber }) =>
        updateViewState({ sampleId: sample.id, cardNumber, view: "sequence" }),
      ),
    );
  } else
    picture.replaceChildren(
      ...renderRunOverview(runStatistics, samples, (sample) =>
        updateViewState({ sampleId: sample, cardNumber: undefined }),
      ),
    );
}

function renderTabs(): void {
  const views = viewState.sampleId === undefined ? (["sequence", "table"] as const) : VIEW_NAMES;
  requireElementById("tabs").replaceChildren(
    ...views.map((view) => {
      const isOn =
        viewState.view === view || (view === "sequence" && !views.some((one) => one === viewState.view));
      return createElement(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${view}`,
          "aria-selected": String(isOn),
          "aria-controls": "picture",
          tabindex: isOn ? 0 : -1,
          onclick: () => {
            updateViewState({ view });
            requireElementById(`tab-${view}`).focus();
          },
        },
        viewState.sampleId === undefined && view === "sequence" ? "Overview" : VIEW_LABELS[view],
      );
    }),
  );
}

let runStatistics = summarizeRun(runModel);

function refreshRunStatistics(): void {
  runStatistics = summarizeRun(runModel);
  filterForm.updateSelectOptions(runModel);
  requireElementById("run").replaceChildren(
    ...renderRunHeader(runModel, runStatistics, pageData.title, pageData.live !== undefined),
  );
  requireElementById("run").classList.toggle("away", !isLiveStreamConnected);
  document.title = `${runModel.run?.run_id ?? pageData.title} · cards`;
  renderReportPage();
}

function focusSelectedCard(): void {
  document.querySelector<SVGElement>("#picture [aria-pressed=true]")?.focus();
}

/** Moves the selection by the given number of message cards. */
function moveCardSelection(steps: number): void {
  const cards =
    viewState.sampleId === undefined ? 0 : (runModel.findSample(viewState.sampleId)?.cards.length ?? 0);
  if (cards === 0) return;
  updateViewState({
    cardNumber: Math.min(cards, Math.max(1, (viewState.cardNumber ?? (steps > 0 ? 0 : cards + 1)) + steps)),
  });
  const selected = document.querySelector("#picture [aria-pressed=true]");
  selected?.scrollIntoView({ block: "nearest", inline: "nearest" });
  announceToScreenReader(selected?.getAttribute("aria-label") ?? "");
}

const KEY_BINDINGS: Readonly<Record<string, () => void>> = {
  j: () => sampleList.moveSelection(1),
  k: () => sampleList.moveSelection(-1),
  ArrowDown: () => sampleList.moveSelection(1),
  ArrowUp: () => sampleList.moveSelection(-1),
  l: () => moveCardSelection(1),
  h: () => moveCardSelection(-1),
  ArrowRight: () => moveCardSelection(1),
  ArrowLeft: () => moveCardSelection(-1),
  "/": () => filterForm.searchInput.focus(),
  t: () => announceToScreenReader(`${toggleTheme()} theme`),
  o: () => updateViewState({ sampleId: undefined, cardNumber: undefined, view: "sequence" }),
  "1": () => updateViewState({ view: "sequence" }),
  "2": () => updateViewState({ view: "timeline" }),
  "3": () => updateViewState({ view: "graph" }),
  "4": () => updateViewState({ view: "table" }),
  Escape: () =>
    viewState.cardNumber === undefined
      ? updateViewState({ sampleId: undefined })
      : updateViewState({ cardNumber: undefined }),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (isTyping) {
    if (event.key !== "Escape" && !(event.key === "ArrowDown" && target === filterForm.searchInput)) return;
    if (event.key === "Escape") filterForm.reset();
    requireElementById("samples").focus();
    renderReportPage();
    if (event.key === "Escape") return;
  }
  // In the tab list, arrow keys move between tabs.
  if (target instanceof HTMLElement && target.role === "tab" && /^Arrow(Left|Right)$/.test(event.key)) {
    const tabs = [...requireElementById("tabs").querySelectorAll<HTMLElement>("[role=tab]")];
    const at = tabs.indexOf(target) + (event.key === "ArrowRight" ? 1 : -1);
    event.preventDefault();
    tabs.at(at % tabs.length)?.click();
    return;
  }
  // In the table and the JSON view, arrow keys scroll.
  if (target instanceof Element && target.closest(".table-body, .raw") && event.key.startsWith("Arrow"))
    return;
  const act = KEY_BINDINGS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
addEventListener("hashchange", () => {
  viewState = parseViewHash(location.hash);
  renderReportPage();
});
new ResizeObserver(() => renderReportPage()).observe(requireElementById("picture"));
requireElementById("whole").addEventListener("click", () =>
  updateViewState({
    sampleId: undefined,
    cardNumber: undefined,
    view: viewState.view === "table" ? "table" : "sequence",
  }),
);
requireElementById("theme").addEventListener("click", () => announceToScreenReader(`${toggleTheme()} theme`));

refreshRunStatistics();
document.body.dataset["ready"] = "true";

if (pageData.live !== undefined) {
  let isScheduled = false;
  let pause = 100;
  // The page is rendered at most ten times a second, and rendering takes at most a fifth of the time.
  const scheduleRefresh = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      const startMs = performance.now();
      isScheduled = false;
      refreshRunStatistics();
      pause = Math.max(100, 4 * (performance.now() - startMs));
    }, pause);
  };
  subscribeToLiveEvents(pageData.live, {
    onLines: (lines) => {
      for (const line of lines) runModel.addLine(line);
      scheduleRefresh();
    },
    onTornLines: (lines) => {
      runModel.tornLineCount += lines;
      scheduleRefresh();
    },
    onReset: () => {
      runModel = new RunModel();
      scheduleRefresh();
    },
    onConnectionChange: (isThere) => {
      if (isThere === isLiveStreamConnected) return;
      isLiveStreamConnected = isThere;
      announceToScreenReader(isThere ? "Reconnected." : "Connection lost. Reconnecting.");
      scheduleRefresh();
    },
  });
}
