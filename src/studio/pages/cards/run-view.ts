import type { TrafficLine } from "../../../observe/trace/index.ts";
import { buildRunReport, type RunReport } from "../../../cards/index.ts";
import { computed, type ReadonlySignal, signal, type Signal } from "@preact/signals";
import { type PageSample, RunModel } from "./model/run-model.ts";
import { type CardFilter, matchesSample } from "./model/sample-summary.ts";

/** A filter that matches everything. */
export const EMPTY_FILTER: CardFilter = { text: "", outcome: "" };

/** State of the screen that shows the message cards of a run. */
export interface RunView {
  readonly title: string;
  /** Whether the record can grow. */
  readonly isLive: boolean;
  /** The model and its statistics. The model changes in place, and the signal changes with each render. */
  readonly run: ReadonlySignal<RunWithStatistics>;
  readonly filter: Signal<CardFilter>;
  readonly state: ReadonlySignal<ViewState>;
  /** Problems that match the filter. */
  readonly samples: ReadonlySignal<readonly PageSample[]>;
  readonly isConnected: ReadonlySignal<boolean>;
  updateState(change: Partial<ViewState>): void;
}

/** A run and its statistics. */
interface RunWithStatistics {
  readonly model: RunModel;
  readonly statistics: RunReport;
}

/** Minimum time between two renders of a live record in milliseconds. */
const MIN_RENDER_INTERVAL_MS = 100;

/**
 * Creates the view of a run. `liveEvents` delivers the lines of a record that grows. The page calls this function once:
 * the view follows the URL and the record until the page is closed.
 */
export function createRunView(title: string, shown: RunModel, liveEvents?: EventSource): RunView {
  let model = shown;
  let writerState = model.writerState;
  const summarize = (): RunWithStatistics => ({ model, statistics: buildRunReport(model) });
  const run = signal(summarize());
  const filter = signal(EMPTY_FILTER);
  const state = signal(parseViewHash(location.hash));
  const isConnected = signal(true);
  addEventListener("hashchange", () => {
    const isOfOtherScreen = /^#\/(?!cards)/.test(location.hash);
    if (!isOfOtherScreen) state.value = parseViewHash(location.hash);
  });

  // Renders at most ten times a second, and for at most a fifth of the time.
  let pauseMs = MIN_RENDER_INTERVAL_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const scheduleRender = (): void => {
    timer ??= setTimeout(() => {
      const startMs = performance.now();
      timer = undefined;
      run.value = summarize();
      pauseMs = Math.max(MIN_RENDER_INTERVAL_MS, 4 * (performance.now() - startMs));
    }, pauseMs);
  };
  const onEvent = (name: string, update: (data: string) => void): void =>
    liveEvents?.addEventListener(name, ({ data }: MessageEvent<string>) => {
      update(data);
      scheduleRender();
    });
  liveEvents?.addEventListener("open", () => (isConnected.value = true));
  // The browser reconnects automatically, and the server then sends all lines again.
  liveEvents?.addEventListener("error", () => (isConnected.value = false));
  onEvent("reset", () => {
    model = new RunModel();
    model.writerState = writerState;
  });
  onEvent("writer", (state) => {
    writerState = state === "active" || state === "exited" ? state : "unknown";
    model.writerState = writerState;
  });
  onEvent("torn", (count) => (model.tornLineCount += Number(count)));
  // The server has already validated the lines.
  onEvent("lines", (lines) => {
    for (const line of JSON.parse(lines) as TrafficLine[]) model.add(line);
  });
  return {
    title,
    isLive: liveEvents !== undefined,
    run,
    filter,
    state,
    samples: computed(() =>
      run.value.model.samples.filter((sample) => hasContent(sample) && matchesSample(sample, filter.value)),
    ),
    isConnected,
    updateState(change) {
      state.value = { ...state.value, ...change };
      const hash = formatViewHash(state.value);
      if (hash !== location.hash) history.replaceState(undefined, "", hash);
    },
  };
}

/** Returns whether the list shows the sample. Cards without a problem form a sample without an ID. */
export function hasContent({ id, cards }: PageSample): boolean {
  return id !== "" || cards.length > 0;
}

/** State of the view of a run, which the URL fragment stores. */
interface ViewState {
  /** ID of the selected problem, or `undefined` for the entire run. */
  readonly sampleId: string | undefined;
  /** Number of the selected message card within its problem, starting at 1. */
  readonly cardNumber: number | undefined;
}

/**
 * Parses a URL fragment such as `#/cards?sample=gsm8k_0&card=3`. The fragments of earlier versions have
 * no path: `#gsm8k_0` and `#sample=gsm8k_0&card=3`.
 */
function parseViewHash(hash: string): ViewState {
  const text = hash.replace(/^#(?:\/cards(?:\?|$))?/, "");
  if (text !== "" && !/[=/]/.test(text))
    return { sampleId: decodeUriOrKeepText(text), cardNumber: undefined };
  const params = new URLSearchParams(text);
  const card = Number(params.get("card"));
  return {
    sampleId: params.get("sample") ?? undefined,
    cardNumber: Number.isSafeInteger(card) && card > 0 ? card : undefined,
  };
}

/** Formats a view state as a URL fragment. */
function formatViewHash({ sampleId, cardNumber }: ViewState): string {
  const params = new URLSearchParams();
  if (sampleId !== undefined) params.set("sample", sampleId);
  if (cardNumber !== undefined) params.set("card", String(cardNumber));
  return params.size === 0 ? "#/cards" : `#/cards?${params}`;
}

function decodeUriOrKeepText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
