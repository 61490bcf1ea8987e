import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { LogAppend } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { FileLoss, OpenFileInspector } from "./file-loss.ts";

/** Time between two inspections in milliseconds. */
const INSPECTION_INTERVAL_MS = 250;
/** Maximum number of ids of each kind in the log. The loss record contains all ids. */
const MAX_LOGGED_IDS = 20;

/** Content of the file `<file>-lost`. While the file exists, no server opens the store. */
interface LossRecord {
  readonly description: string;
  readonly noticedAt: string;
  readonly lastInspectionAt: string;
  readonly pid: number;
  /** Messages and tasks that the store acknowledged after the last inspection without a loss. */
  readonly messageIds: readonly string[];
  readonly taskIds: readonly string[];
}

interface FileLossWatchOptions {
  /** Path of the database file. */
  readonly file: string;
  readonly inspect: OpenFileInspector["findLoss"];
  readonly isLogLarge: () => boolean;
  /** Copies what it can copy of the open log to the open database file. */
  readonly checkpoint: () => void;
  /** Copies the entire open log to the open database file. Returns false if another program reads the file. */
  readonly saveLog: () => boolean;
  /** Called for each loss. The error describes the loss to the operator. */
  readonly onLoss: (loss: FileLoss, error: Error) => void;
}

/**
 * Inspects the files of an open store four times per second and around each checkpoint, and remembers what the store
 * has acknowledged since the last inspection. A commit therefore costs no access to the files.
 */
export class FileLossWatch {
  readonly #options: FileLossWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #taskIds = new Set<string>();
  #messageIds: string[] = [];
  #lastInspectionAt = new Date();
  #loss: FileLoss | undefined;
  #isLogSaved = false;

  constructor(options: FileLossWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.inspect();
      if (options.isLogLarge()) this.runCheckpoint();
    }, INSPECTION_INTERVAL_MS);
    this.#timer.unref();
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  recordAcknowledged({ taskId, messages }: LogAppend): void {
    this.#taskIds.add(taskId);
    for (const { messageId } of messages) this.#messageIds.push(messageId);
  }

  inspect(): void {
    if (this.#loss) return;
    const loss = this.#findLoss();
    if (loss === "unclear") return;
    if (loss) return this.#report(loss);
    this.#lastInspectionAt = new Date();
    if (this.#taskIds.size === 0) return;
    this.#taskIds = new Set();
    this.#messageIds = [];
  }

  /** Runs a checkpoint between two inspections, because a checkpoint writes over the traces of other programs. */
  runCheckpoint(): void {
    this.inspect();
    if (this.#loss) return;
    this.#options.checkpoint();
    this.inspect();
  }

  /** Returns true if no loss is left, for example because a moved file has its path again. */
  tryRestore(): boolean {
    if (!this.#loss) return true;
    this.#saveLog(this.#loss);
    if (this.#loss.kind !== "moved" || this.#findLoss() !== undefined) return false;
    this.#loss = undefined;
    rmSync(getLossRecordPath(this.#options.file), { force: true });
    return true;
  }

  /** Stops the inspections. A last inspection covers the last commits. */
  stop(): void {
    clearInterval(this.#timer);
    if (this.#taskIds.size > 0) this.inspect();
  }

  #findLoss(): FileLoss | "unclear" | undefined {
    try {
      return this.#options.inspect();
    } catch {
      // Without access to the folder, the inspection cannot tell where the files are.
      return "unclear";
    }
  }

  #report(loss: FileLoss): void {
    this.#loss = loss;
    this.#isLogSaved = false;
    this.#saveLog(loss);
    const noticedAt = new Date().toISOString();
    const lastInspectionAt = this.#lastInspectionAt.toISOString();
    const ids = { messageIds: this.#messageIds, taskIds: [...this.#taskIds] };
    const record = { description: loss.description, noticedAt, lastInspectionAt, pid: process.pid, ...ids };
    const isRecorded = !this.#isNothingLost(loss) && tryWriteLossRecord(this.#options.file, record);
    const text = `${loss.description} after ${lastInspectionAt}. ${formatAcknowledged(ids)} ${this.#formatRemedy(loss, isRecorded)}`;
    this.#options.onLoss(loss, new Error(text));
  }

  #formatRemedy({ kind }: FileLoss, isRecorded: boolean): string {
    const { file } = this.#options;
    const details = isRecorded ? ` ${getLossRecordPath(file)} lists them all.` : "";
    const copy = `colloquy store backup COPY --store sqlite:${file}`;
    if (kind === "log")
      return this.#isLogSaved
        ? "The store has saved all of them in its file, and accepts no more. Restart the server."
        : `The store saves them in its file when no other program reads the file.${details} Do not kill the server before it has stopped.`;
    if (kind === "moved")
      return `This process can still read the file.${details} Move the file back, or save the tasks before this process ends, with: ${copy}`;
    return `They and earlier tasks may be lost.${details} Save what this process can still read before it ends, with: ${copy}. Then restore a backup.`;
  }

  /** A moved file then contains all tasks, and the log cannot damage a file that replaces the moved file. */
  #saveLog({ kind }: FileLoss): void {
    if (kind === "damaged" || this.#isLogSaved) return;
    try {
      this.#isLogSaved = this.#options.saveLog();
    } catch {
      // The disk fails, so the log stays open.
    }
    if (this.#isLogSaved && kind === "log") rmSync(getLossRecordPath(this.#options.file), { force: true });
  }

  #isNothingLost({ kind }: FileLoss): boolean {
    return kind === "log" && this.#isLogSaved;
  }
}

/** Throws `UNAVAILABLE` if a process has lost the file, so that a restart does not silently begin with an empty store. */
export function assertNoRecordedLoss(file: string): void {
  const path = getLossRecordPath(file);
  let record: LossRecord;
  try {
    record = JSON.parse(readFileSync(path, "utf8")) as LossRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const { description, noticedAt, pid, messageIds, taskIds } = record;
  throw new A2AError(
    "UNAVAILABLE",
    `${description} while process ${pid} used the store, which noticed the loss at ${noticedAt}. ${path} lists ${messageIds.length} acknowledged messages of ${taskIds.length} tasks that may be missing. If process ${pid} still runs, save its tasks first: colloquy store backup COPY. Then restore the file, or keep the present file, and delete ${path}.`,
  );
}

export function hasRecordedLoss(file: string): boolean {
  return existsSync(getLossRecordPath(file));
}

/** Returns the path of the file that keeps servers from opening the store after a loss. */
function getLossRecordPath(file: string): string {
  return `${file}-lost`;
}

function tryWriteLossRecord(file: string, record: LossRecord): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(getLossRecordPath(file), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function formatAcknowledged({ messageIds, taskIds }: Pick<LossRecord, "messageIds" | "taskIds">): string {
  if (taskIds.length === 0) return "The store has acknowledged nothing since then.";
  return `Since then, the store has acknowledged ${formatIds("messages", messageIds)} and events of ${formatIds("tasks", taskIds)}.`;
}

function formatIds(noun: string, ids: readonly string[]): string {
  if (ids.length === 0) return `no ${noun}`;
  const listed = ids.slice(0, MAX_LOGGED_IDS).map((id) => JSON.stringify(id));
  const rest = ids.length > listed.length ? ", …" : "";
  return `${ids.length} ${noun} (${listed.join(", ")}${rest})`;
}
