import { readdirSync, statSync, watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";

/** Time in milliseconds without a further event after which a change counts as complete. */
const SETTLE_MS = 40;
/** Interval in milliseconds of the checks for file systems that report no events, such as network drives. */
const POLL_MS = 2_000;
/** Interval in milliseconds of the checks if the operating system offers no more watches. */
const FAST_POLL_MS = 500;

/**
 * Watches files and the lists of files in directories. The watcher observes the directories of the files, because
 * editors often replace a file instead of writing to the file. The watcher compares the files with their earlier
 * state, because operating systems report too many events, and some file systems report none.
 */
export class FileWatcher {
  /** States of the watched files and directories by path. */
  #states = new Map<string, string>();
  readonly #watchers = new Map<string, FSWatcher>();
  #changed = new Set<string>();
  #onChange: (() => void) | undefined;
  #isClosed = false;
  #settleTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #pollMs = POLL_MS;

  /**
   * Replaces the watched paths. A path that the watcher already knows keeps its earlier state, so that a change between
   * two calls is reported.
   */
  watchPaths(paths: Iterable<string>): void {
    const earlier = this.#states;
    this.#states = new Map([...paths].map((path) => [path, earlier.get(path) ?? readPathState(path)]));
    const directories = new Set(
      [...this.#states.keys()].flatMap((path) => [path, dirname(path)]).filter(isDirectory),
    );
    for (const [directory, watcher] of this.#watchers)
      if (!directories.has(directory)) {
        watcher.close();
        this.#watchers.delete(directory);
      }
    for (const directory of directories) if (!this.#watchers.has(directory)) this.#watchDirectory(directory);
    this.#schedulePoll();
    // A change since the previous comparison may have no further event.
    this.#scheduleComparison();
  }

  /**
   * Resolves with the paths that have changed since the previous call, as soon as at least one has changed. A path that
   * appears or disappears has changed. Resolves with an empty set after `timeoutMs` milliseconds without a change, and
   * with `undefined` if the watcher is closed.
   */
  async waitForChanges(timeoutMs?: number): Promise<ReadonlySet<string> | undefined> {
    const timeLimit = new AbortController();
    const endTime = (): void => {
      timeLimit.abort();
      this.#onChange?.();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(endTime, timeoutMs);
    while (this.#changed.size === 0 && !this.#isClosed && !timeLimit.signal.aborted)
      await new Promise<void>((resolve) => (this.#onChange = resolve));
    clearTimeout(timer);
    if (this.#isClosed) return undefined;
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  close(): void {
    this.#isClosed = true;
    this.#onChange?.();
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#pollTimer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#states.clear();
  }

  #watchDirectory(directory: string): void {
    try {
      const watcher = watch(directory, () => this.#scheduleComparison());
      watcher.on("error", () => this.#stopWatching(directory));
      this.#watchers.set(directory, watcher);
    } catch {
      this.#pollMs = FAST_POLL_MS;
    }
  }

  #stopWatching(directory: string): void {
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
    this.#pollMs = FAST_POLL_MS;
    this.#scheduleComparison();
  }

  #scheduleComparison(): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => this.#reportChanges(), SETTLE_MS);
  }

  #schedulePoll(): void {
    clearTimeout(this.#pollTimer);
    this.#pollTimer = setTimeout(() => {
      this.#reportChanges();
      this.#schedulePoll();
    }, this.#pollMs);
  }

  #reportChanges(): void {
    for (const [path, earlier] of this.#states) {
      const state = readPathState(path);
      if (state === earlier) continue;
      this.#changed.add(path);
      this.#states.set(path, state);
    }
    if (this.#changed.size > 0) this.#onChange?.();
  }
}

/** Returns a text that changes if a file is written or replaced, or if the list of files in a directory changes. */
function readPathState(path: string): string {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return readdirSync(path).toSorted().join("\n");
    return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  } catch {
    return "missing";
  }
}

/** Returns whether a path is a directory that exists. */
export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
