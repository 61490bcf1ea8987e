import { computed, type ReadonlySignal, signal, type Signal } from "@preact/signals";
import type { PageData } from "./page-data.ts";
import { subscribeToLiveEvents } from "./live-events.ts";
import { type CardFilter, matchesSample } from "./model/card-filter.ts";
import { type PageSample, RunModel } from "./model/run-model.ts";
import { type RunStatistics, summarizeRun } from "./model/run-statistics.ts";
import { formatViewHash, parseViewHash, type ViewState } from "./model/view-state.ts";

/** A filter that matches everything. */
export const EMPTY_FILTER: CardFilter = { text: "", outcome: "", role: "", type: "", status: "" };

/** State of the screen that shows the message cards of a run. */
export interface RunView {
  readonly title: string;
  /** Whether the record can grow. */
  readonly isLive: boolean;
  /** The model of the run. Its identity changes with each render, because the model changes in place. */
  readonly run: ReadonlySignal<{ readonly model: RunModel; readonly statistics: RunStatistics }>;
  readonly filter: Signal<CardFilter>;
  readonly state: ReadonlySignal<ViewState>;
  /** Problems that match the filter. */
  readonly samples: ReadonlySignal<readonly PageSample[]>;
  readonly isConnected: ReadonlySignal<boolean>;
  updateState(change: Partial<ViewState>): void;
  /** Starts to follow the URL and a live record, and returns a function that ends both. */
  start(announce: (text: string) => void): () => void;
}

/** Minimum time between two renders of a live record in milliseconds. */
const MIN_RENDER_INTERVAL_MS = 100;

export function createRunView(data: PageData): RunView {
  let model = RunModel.fromPageData(data);
  const summarize = (): { model: RunModel; statistics: RunStatistics } => ({
    model,
    statistics: summarizeRun(model),
  });
  const run = signal(summarize());
  const filter = signal(EMPTY_FILTER);
  const state = signal(parseViewHash(location.hash));
  const isConnected = signal(true);
  const samples = computed(() =>
    run.value.model.samples.filter((sample) => hasContent(sample) && matchesSample(sample, filter.value)),
  );
  const onHashChange = (): void => {
    state.value = parseViewHash(location.hash);
  };
  return {
    title: data.title,
    isLive: data.live !== undefined,
    run,
    filter,
    state,
    samples,
    isConnected,
    updateState(change) {
      state.value = { ...state.value, ...change };
      const hash = formatViewHash(state.value);
      if (hash !== location.hash) history.replaceState(undefined, "", hash);
    },
    start(announce) {
      addEventListener("hashchange", onHashChange);
      if (data.live === undefined) return () => removeEventListener("hashchange", onHashChange);
      let pauseMs = MIN_RENDER_INTERVAL_MS;
      let timer: ReturnType<typeof setTimeout> | undefined;
      // Renders at most ten times a second, and for at most a fifth of the time.
      const scheduleRender = (): void => {
        timer ??= setTimeout(() => {
          const startMs = performance.now();
          timer = undefined;
          run.value = summarize();
          pauseMs = Math.max(MIN_RENDER_INTERVAL_MS, 4 * (performance.now() - startMs));
        }, pauseMs);
      };
      const stop = subscribeToLiveEvents(data.live, {
        onLines: (lines) => {
          for (const line of lines) model.addLine(line);
          scheduleRender();
        },
        onTornLines: (count) => {
          model.tornLineCount += count;
          scheduleRender();
        },
        onReset: () => {
          model = new RunModel();
          scheduleRender();
        },
        onWriterGone: () => {
          model.isWriterGone = true;
          scheduleRender();
        },
        onConnectionChange: (isThere) => {
          if (isThere === isConnected.value) return;
          isConnected.value = isThere;
          announce(isThere ? "Reconnected." : "Connection lost. Reconnecting.");
        },
      });
      return () => {
        removeEventListener("hashchange", onHashChange);
        clearTimeout(timer);
        stop();
      };
    },
  };
}

/** Returns whether the list shows the sample. Cards without a problem form a sample without an ID. */
export function hasContent({ id, cards }: PageSample): boolean {
  return id !== "" || cards.length > 0;
}
