import { watch } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Whole lines that a file has got, and the place behind them; or it is another file now, or begins again. */
export type FileFollowEvent =
  | { readonly lines: readonly string[]; readonly position: FilePosition }
  | "reset";

/** Where one is in a file: which file it is, and how many bytes of it are read. */
export interface FilePosition {
  readonly fileId: string;
  readonly offset: number;
}

/** At most so much is read at once. */
const READ_SIZE = 256 * 1024;
/** A line that is longer is nobody's record, and is passed over. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Where nothing tells of changes (network disks), one looks as often as that. */
const POLL_INTERVAL_MS = 500;

/**
 * The lines of a file, and then those that it gets, until the signal aborts. It waits for a file that is not there yet,
 * and for the end of a line that is half written; a file that was replaced or cut off is read from its beginning.
 */
export async function* followFile(
  path: string,
  signal: AbortSignal,
  from?: FilePosition,
): AsyncGenerator<FileFollowEvent, void, undefined> {
  using changes = new FileChangeWatcher(path, signal);
  const chunk = Buffer.allocUnsafe(READ_SIZE);
  let place = from;
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  // Kept open, so that no other file gets its number.
  let handle: FileHandle | undefined;
  try {
    while (!signal.aborted) {
      // Before the look, so that nothing is missed between the two.
      const changed = changes.waitForChange();
      const now = await readFileIdentity(path);
      if (!now) {
        await changed;
        continue;
      }
      if (place && (place.fileId !== now.file || now.size < place.offset + rest.length)) {
        yield "reset";
        place = undefined;
        rest = Buffer.alloc(0);
        isTooLong = false;
        await handle?.close();
        handle = undefined;
      }
      handle ??= await open(path, "r");
      place ??= { fileId: now.file, offset: 0 };
      const { bytesRead } = await handle.read(chunk, 0, READ_SIZE, place.offset + rest.length);
      if (bytesRead === 0) {
        await changed;
        continue;
      }
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      rest = bytes.subarray(end);
      if (end > 0) {
        const lines = bytes.toString("utf8", 0, end - 1).split("\n");
        // What is left of a line of which the beginning was passed over.
        if (isTooLong) lines.shift();
        isTooLong = false;
        place = { fileId: place.fileId, offset: place.offset + end };
        yield { lines, position: place };
      }
      if (rest.length > MAX_LINE_BYTES) {
        isTooLong = true;
        place = { fileId: place.fileId, offset: place.offset + rest.length };
        rest = Buffer.alloc(0);
      }
    }
  } finally {
    await handle?.close();
  }
}

const LINE_FEED = 10;

/** Which file stands there, and how long it is; `undefined` when there is none. */
async function readFileIdentity(path: string): Promise<{ file: string; size: number } | undefined> {
  try {
    const { dev, ino, size } = await stat(path);
    return { file: `${dev}-${ino}`, size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Tells when there may be something new: when the folder says so, and every now and then. */
class FileChangeWatcher implements Disposable {
  #pendingChange: PromiseWithResolvers<void> | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #watcher: ReturnType<typeof watch> | undefined;

  constructor(path: string, signal: AbortSignal) {
    const tell = (): void => {
      this.#pendingChange?.resolve();
      this.#pendingChange = undefined;
    };
    this.#timer = setInterval(tell, POLL_INTERVAL_MS);
    signal.addEventListener("abort", tell);
    try {
      // The folder and not the file, which may not be there yet, or be replaced.
      this.#watcher = watch(dirname(path), { persistent: false }, tell);
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // There is no such folder, or it cannot be watched: looking has to do.
    }
  }

  waitForChange(): Promise<void> {
    this.#pendingChange ??= Promise.withResolvers<void>();
    return this.#pendingChange.promise;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
  }
}
