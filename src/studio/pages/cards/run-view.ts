import { SharedTextDecoder } from "../../../observe/trace/index.ts";
import { buildRunReport, decodeRecordLines, type RunReport } from "../../../cards/index.ts";
import { computed, type ReadonlySignal, signal, type Signal } from "@preact/signals";
import { type PageSample, RunModel, type CardFilter, matchesSample } from "./model/run-model.ts";

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

/** Time in milliseconds between two requests for new lines. */
const POLL_INTERVAL_MS = 500;

/**
 * Creates the view of a run. At `linesUrl`, a server returns the lines of a record that grows. The page calls this
 * function once: the view follows the URL and the record until the page is closed.
 */
export function createRunView(title: string, shown: RunModel, linesUrl?: URL): RunView {
  let model = shown;
  const summarize = (): RunWithStatistics => ({ model, statistics: buildRunReport(model) });
  const run = signal(summarize());
  const filter = signal(EMPTY_FILTER);
  const state = signal(parseViewHash(location.hash));
  const isConnected = signal(true);
  addEventListener("hashchange", () => {
    const isOfOtherScreen = /^#\/(?!cards)/.test(location.hash);
    if (!isOfOtherScreen) state.value = parseViewHash(location.hash);
  });

  const { runId } = shown;
  const file = { id: "", end: 0, texts: new SharedTextDecoder() };
  /** Adds the next lines of the record, and returns whether there were any. */
  const addNextLines = async (url: URL): Promise<boolean> => {
    const query = new URLSearchParams({ file: file.id, after: String(file.end) });
    const response = await fetch(new URL(`?${query}`, url));
    if (!response.ok) throw new Error(`The server responded with status ${response.status}.`);
    const read = (name: string): string => response.headers.get(`x-record-${name}`) ?? "";
    if (read("file") !== file.id || Number(read("start")) !== file.end) {
      model = new RunModel(runId);
      Object.assign(file, { id: read("file"), end: 0, texts: new SharedTextDecoder() });
    }
    const bytes = await response.arrayBuffer();
    file.end += bytes.byteLength;
    for (const { line } of decodeRecordLines(new TextDecoder().decode(bytes), file.texts))
      if ("torn" in line) model.tornLineCount += 1;
      else model.add(line);
    const writer = read("writer");
    const isChanged = bytes.byteLength > 0 || model !== run.value.model || writer !== model.writerState;
    model.writerState = writer === "active" || writer === "exited" ? writer : "unknown";
    if (isChanged) run.value = summarize();
    return bytes.byteLength > 0;
  };
  const follow = async (url: URL): Promise<never> => {
    for (;;) {
      try {
        while (await addNextLines(url)) isConnected.value = true;
        isConnected.value = true;
      } catch {
        isConnected.value = false;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  };
  if (linesUrl) void follow(linesUrl);
  return {
    title,
    isLive: linesUrl !== undefined,
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
