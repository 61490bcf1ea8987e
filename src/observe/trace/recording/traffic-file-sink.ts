import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as waitMs } from "node:timers/promises";
import type { TrafficSink } from "./traffic-sink.ts";

/** Limits of the files of a record. */
export interface TrafficFileLimits {
  /** Size in bytes at which the writer begins a new file. Default: 104,857,600 (100 MiB). */
  readonly maxBytes?: number;
  /**
   * Maximum number of files, including the current file. The oldest file is deleted. Earlier files have the names
   * `FILE.1`, `FILE.2` and so on, and a higher number is older. Default: 5.
   */
  readonly maxFiles?: number;
}

const DEFAULT_MAX_FILE_BYTES = 100 * 2 ** 20;
const DEFAULT_MAX_FILES = 5;
/**
 * Shortest time in milliseconds between two writes of one writer. A write takes the CPU time of about 20 lines, so lines
 * that arrive in between are written together.
 */
const WRITE_INTERVAL_MS = 10;

/** Open files by path. Several writers of a process append to one file, and only one of them rotates it. */
const OPEN_FILES = new Map<string, SharedTrafficFile>();

/**
 * Opens a file for traffic lines, and creates it with the mode 0600. Existing lines remain. Writers of the same process
 * share the file, with the limits of the first writer.
 */
export function openTrafficFileSink(path: string, limits: TrafficFileLimits = {}): TrafficSink {
  const fullPath = resolve(path);
  const file = OPEN_FILES.get(fullPath) ?? new SharedTrafficFile(fullPath, limits);
  OPEN_FILES.set(fullPath, file);
  file.retain();
  return {
    async write(lines, header) {
      await file.append(lines, header);
      await waitMs(WRITE_INTERVAL_MS);
    },
    close: () => file.release(),
  };
}

class SharedTrafficFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  #users = 0;
  #handle: FileHandle | undefined;
  #size = 0;
  /** Writer lines that the current file contains. */
  #headers = new Set<string>();
  /** True if the last line of the file may be incomplete. */
  #isLastLineTorn = false;
  #pending: Promise<void> = Promise.resolve();

  constructor(
    path: string,
    { maxBytes = DEFAULT_MAX_FILE_BYTES, maxFiles = DEFAULT_MAX_FILES }: TrafficFileLimits,
  ) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
  }

  retain(): void {
    this.#users += 1;
  }

  append(lines: string, header: string): Promise<void> {
    const appended = this.#pending.then(() => this.#append(lines, header));
    this.#pending = appended.catch(() => {});
    return appended;
  }

  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return await this.#pending;
    OPEN_FILES.delete(this.#path);
    await this.#pending;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #append(lines: string, header: string): Promise<void> {
    let handle = this.#handle ?? (await this.#open());
    if (this.#size > 0 && this.#size + lines.length > this.#maxBytes && this.#headers.size > 0) {
      await handle.close();
      this.#handle = undefined;
      await this.#rotate();
      handle = await this.#open();
    }
    const text = `${this.#isLastLineTorn ? "\n" : ""}${this.#headers.has(header) ? "" : header}${lines}`;
    const bytes = Buffer.from(text);
    this.#isLastLineTorn = true;
    await handle.appendFile(bytes);
    this.#isLastLineTorn = false;
    this.#headers.add(header);
    this.#size += bytes.length;
  }

  async #open(): Promise<FileHandle> {
    const handle = await open(this.#path, "a+", 0o600);
    const { size } = await handle.stat();
    this.#headers = new Set();
    this.#size = size;
    // The last writer may have been killed within a line.
    if (size > 0) {
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
      this.#isLastLineTorn = buffer[0] !== 0x0a;
    } else this.#isLastLineTorn = false;
    this.#handle = handle;
    return handle;
  }

  /** Renames the files, so that the current path is free. Deletes the files beyond the limit. */
  async #rotate(): Promise<void> {
    const last = Math.max(this.#maxFiles - 1, 0);
    await rm(last === 0 ? this.#path : `${this.#path}.${last}`, { force: true });
    for (let number = last; number > 0; number--) {
      const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`;
      await rename(from, `${this.#path}.${number}`).catch((error: unknown) => {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      });
    }
  }
}
