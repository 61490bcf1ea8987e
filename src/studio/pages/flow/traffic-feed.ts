import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { PageState } from "../app/page-state.ts";
import { getConsoleUser, type TrafficSource } from "../source/traffic-source.ts";
import { loadTrafficModel, type TrafficLine, type TrafficModel } from "../../../observe/trace/index.ts";

/** Number of lines of live traffic that the page keeps. Older lines are dropped. */
const MAX_LIVE_LINES = 20_000;
/** Minimum time between two renders in milliseconds. */
const MIN_RENDER_INTERVAL_MS = 100;

/** The traffic that the page has seen, as a model. */
export interface TrafficSnapshot {
  readonly model: TrafficModel;
  /** Number of lines that the page dropped. */
  readonly droppedLines: number;
}

/**
 * Collects the lines of all tasks. A record is kept completely. Of live traffic, the newest 20,000 lines are kept. The
 * model is only built while a screen reads `snapshot`. Lines from the time before the page was opened are loaded when a
 * screen needs them.
 */
export class TrafficFeed {
  readonly #source: TrafficSource;
  readonly #isRecord: boolean;
  /** Earlier lines that were requested: those of tasks by key, and those of the console. */
  readonly #requested = new Set<string>();
  readonly #snapshot = signal<TrafficSnapshot | undefined>(undefined);
  #lines: TrafficLine[] = [];
  #droppedLines = 0;
  #pauseMs = MIN_RENDER_INTERVAL_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: TrafficSource) {
    this.#source = source;
    this.#isRecord = source.session.mode === "file";
  }

  append(lines: readonly TrafficLine[]): void {
    for (const line of lines) this.#lines.push(line);
    const model = this.#snapshot.peek()?.model;
    // Dropping many lines at once keeps the cost of each line constant.
    if (!this.#isRecord && this.#lines.length > 2 * MAX_LIVE_LINES) {
      this.#droppedLines += this.#lines.length - MAX_LIVE_LINES;
      this.#lines = this.#lines.slice(-MAX_LIVE_LINES);
      if (model) this.#snapshot.value = this.#build();
    } else if (model) {
      for (const line of lines) model.add(line);
      this.#scheduleRender();
    }
  }

  /** The traffic at this time. The signal changes at most ten times a second. */
  get snapshot(): ReadonlySignal<TrafficSnapshot> {
    this.#snapshot.value ??= this.#build();
    this.#loadEarlierLines("", () => this.#source.readObservedLines?.());
    return this.#snapshot as ReadonlySignal<TrafficSnapshot>;
  }

  /** Loads the lines of a task that ran before the console observed it. */
  loadTask(agentId: string, taskId: string): void {
    // An embedded record has no earlier lines.
    if (this.#source.readObservedLines)
      this.#loadEarlierLines(`${agentId}/${taskId}`, () => this.#source.readLines(agentId, taskId));
  }

  /** Puts earlier lines before the known lines, because the model needs the lines of each writer in their order. */
  #loadEarlierLines(key: string, read: () => AsyncIterable<readonly TrafficLine[]> | undefined): void {
    if (this.#requested.has(key)) return;
    this.#requested.add(key);
    const load = async (): Promise<void> => {
      const earlier: TrafficLine[] = [];
      for await (const lines of read() ?? []) for (const line of lines) earlier.push(line);
      if (earlier.length === 0) return;
      this.#lines = [...earlier.slice(-MAX_LIVE_LINES), ...this.#lines];
      if (this.#snapshot.peek()) this.#snapshot.value = this.#build();
    };
    // The new lines are shown without the earlier lines.
    load().catch(() => this.#requested.delete(key));
  }

  /** Stops the model until `snapshot` is read again. */
  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#snapshot.value = undefined;
  }

  #build(): TrafficSnapshot {
    const lines = this.#lines.map((line) => ({ type: "traffic", line }) as const);
    const { model } = loadTrafficModel(lines, getConsoleUser(this.#source));
    return { model, droppedLines: this.#droppedLines };
  }

  /** Renders at most ten times a second, and for at most a fifth of the time. */
  #scheduleRender(): void {
    this.#timer ??= setTimeout(() => {
      const startMs = performance.now();
      this.#timer = undefined;
      const { model } = this.#snapshot.value ?? {};
      if (model) this.#snapshot.value = { model, droppedLines: this.#droppedLines };
      this.#pauseMs = Math.max(MIN_RENDER_INTERVAL_MS, 4 * (performance.now() - startMs));
    }, this.#pauseMs);
  }
}

/** Loads the lines of a task that a link names, unless the page knows the task. */
export function useLoadedTask(
  feed: TrafficFeed,
  agentId: string | undefined,
  taskId: string | undefined,
): void {
  useEffect(() => {
    if (agentId !== undefined && taskId !== undefined) feed.loadTask(agentId, taskId);
  }, [feed, agentId, taskId]);
}

const feeds = new WeakMap<PageState, TrafficFeed>();

/** Starts to collect the lines of a page. Call this function before `PageState.start`. */
export function startTrafficFeed(state: PageState): void {
  const feed = new TrafficFeed(state.source);
  feeds.set(state, feed);
  state.subscribeToLines((lines) => feed.append(lines));
}

/** Returns the traffic of a page. */
export function getTrafficFeed(state: PageState): TrafficFeed {
  const feed = feeds.get(state);
  if (!feed) throw new Error("startTrafficFeed was not called for this page.");
  return feed;
}
