import { LruCache } from "../../base/data-structures/index.ts";
import {
  addModelLineUsage,
  type ModelLine,
  NO_USAGE,
  TaskFamilyFilter,
  type TokenUsage,
  type TrafficLine,
} from "../../observe/trace/index.ts";

/** A traffic line that the console has observed. */
export interface JournalEntry {
  /** Position in the journal, starting at 1. */
  readonly cursor: number;
  /** The line as JSON text without a newline. */
  readonly text: string;
  readonly kind: TrafficLine["kind"];
  /** Time of the line in ISO 8601 format. */
  readonly at: string;
  readonly taskId: string | undefined;
  /** Sequence number of the event in an `event` line. */
  readonly logSeq: number | undefined;
  /** The writer and the id of the call. Lines of the same call have the same key. */
  readonly callKey: string | undefined;
  /** The task that the agent was working on when it made the request, or that started the turn. */
  readonly parent: { readonly task_id: string } | undefined;
  /** The operation of the console to which the line belongs. */
  readonly operation: object | undefined;
}

/** Default maximum length of the lines of a journal, in characters. */
export const DEFAULT_JOURNAL_LENGTH: number = 16 * 2 ** 20;

/** What the lines of a task state about it, also lines that are no longer part of the journal. */
interface JournalTaskFacts {
  /** Usage of the observed model calls. Missing without a call. */
  usage?: TokenUsage;
  /** Largest number of an event in the log. */
  events?: number;
  /** Time of the first event, or of the request that started the task. */
  createdAt?: string;
  /** Task that started the task. */
  parent?: ParentTask;
}

interface ParentTask {
  readonly agent?: string;
  readonly task_id: string;
}

/** Maximum number of tasks whose facts a journal keeps, and of requests that wait for the id of their task. */
const MAX_FACTS = 10_000;

/**
 * The newest traffic lines in memory. Readers have a cursor and no queue, so that slow readers hold no memory. A reader
 * whose cursor is older than the oldest line has lost lines.
 */
export class LineJournal {
  readonly #maxLength: number;
  #entries: JournalEntry[] = [];
  /** Number of entries at the start of `#entries` that are no longer part of the journal. */
  #removedCount = 0;
  #length = 0;
  #lastCursor = 0;
  /** Facts by task id. */
  readonly #facts = new LruCache<JournalTaskFacts>(MAX_FACTS);
  /** Requests that can start tasks, by the key of the call. The response states the id of the task. */
  readonly #startedCalls = new LruCache<Pick<JournalTaskFacts, "createdAt" | "parent">>(MAX_FACTS);
  /** The lines about the writers, which the lines of every task need. */
  readonly #writers: JournalEntry[] = [];
  readonly #waiters = new Set<() => void>();

  constructor(maxLength: number = DEFAULT_JOURNAL_LENGTH) {
    this.#maxLength = maxLength;
  }

  get lastCursor(): number {
    return this.#lastCursor;
  }

  /** Number of lines after `cursor` that the journal no longer contains. */
  countLostLines(cursor: number): number {
    const firstCursor = this.#entries[this.#removedCount]?.cursor ?? this.#lastCursor + 1;
    return Math.max(0, firstCursor - cursor - 1);
  }

  /** Appends a line. `text` is the JSON text of a traffic line, without a newline. */
  append(text: string, operation?: object): JournalEntry {
    const line = JSON.parse(text) as LineIds;
    this.#lastCursor += 1;
    const callKey = line.call === undefined ? undefined : `${line.writer} ${line.call}`;
    if (line.task_id !== undefined) this.#addFacts(line.task_id, line, callKey);
    else if (line.kind === "request" && callKey !== undefined)
      this.#startedCalls.set(callKey, { createdAt: line.at, ...(line.parent && { parent: line.parent }) });
    const entry: JournalEntry = {
      cursor: this.#lastCursor,
      text,
      kind: line.kind,
      at: line.at,
      taskId: line.task_id,
      logSeq: line.log_seq,
      callKey,
      parent: line.parent,
      operation,
    };
    this.#entries.push(entry);
    if (line.kind === "writer") this.#writers.push(entry);
    this.#length += text.length;
    this.#removeOldEntries();
    this.wakeReaders();
    return entry;
  }

  /** Yields the entries after `cursor`, in order. */
  *entriesAfter(cursor: number): Generator<JournalEntry, void, undefined> {
    const first = this.#entries[this.#removedCount]?.cursor;
    if (first === undefined) return;
    const start = this.#removedCount + Math.max(0, cursor + 1 - first);
    for (let at = start; at < this.#entries.length; at++) yield this.#entries[at] as JournalEntry;
  }

  /**
   * Returns the lines of a task: lines with its id, the other lines of the same calls, and the requests and model calls
   * of the tasks that it started. The lines about the writers come first.
   */
  listTaskLines(taskId: string): JournalEntry[] {
    const callKeys = new Set<string>();
    for (const entry of this.entriesAfter(0))
      if (entry.taskId === taskId && entry.callKey !== undefined) callKeys.add(entry.callKey);
    const family = new TaskFamilyFilter(taskId);
    const entries = [...this.entriesAfter(0)].filter(
      (entry) =>
        family.includes(entry) ||
        (entry.taskId === undefined && entry.callKey !== undefined && callKeys.has(entry.callKey)),
    );
    return [...this.#writers, ...entries];
  }

  /** Returns what the observed lines state about a task. */
  findFacts(taskId: string): Readonly<JournalTaskFacts> | undefined {
    return this.#facts.get(taskId);
  }

  #addFacts(taskId: string, line: LineIds, callKey: string | undefined): void {
    const facts: JournalTaskFacts = { ...this.#startedCalls.get(callKey ?? ""), ...this.#facts.get(taskId) };
    if (line.kind === "model") facts.usage = addModelLineUsage(facts.usage ?? NO_USAGE, line as ModelLine);
    if (line.log_seq !== undefined) facts.events = Math.max(facts.events ?? 0, line.log_seq);
    // Servers list the time of a status, and commit it later.
    const statusTime = line.kind === "event" ? line.event?.task?.status?.timestamp : undefined;
    if (statusTime !== undefined) facts.createdAt = statusTime;
    else if (line.log_seq === 1 && line.time_known !== false) facts.createdAt ??= line.at;
    if (line.parent) facts.parent ??= line.parent;
    this.#facts.set(taskId, facts);
  }

  /** Resolves after the next `append` or `wakeReaders`, or when the signal aborts. */
  waitForChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#waiters.delete(wake);
        resolve();
      };
      if (signal.aborted) return wake();
      signal.addEventListener("abort", wake, { once: true });
      this.#waiters.add(wake);
    });
  }

  wakeReaders(): void {
    for (const wake of this.#waiters) wake();
  }

  #removeOldEntries(): void {
    // One line remains, even if it is larger than the journal.
    while (this.#length > this.#maxLength && this.#removedCount < this.#entries.length - 1) {
      this.#length -= this.#entries[this.#removedCount]?.text.length ?? 0;
      this.#removedCount += 1;
    }
    // Removing many entries at once takes constant time per entry.
    if (this.#removedCount < 1_024 || this.#removedCount < this.#entries.length / 2) return;
    this.#entries = this.#entries.slice(this.#removedCount);
    this.#removedCount = 0;
  }
}

/** The members of traffic lines that the journal reads. */
interface LineIds {
  readonly kind: TrafficLine["kind"];
  readonly writer: string;
  readonly at: string;
  readonly task_id?: string;
  readonly call?: string;
  readonly log_seq?: number;
  readonly time_known?: false;
  readonly event?: { readonly task?: { readonly status?: { readonly timestamp?: string } } };
  readonly parent?: ParentTask;
}
