import { watch } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Whole lines that a file has got, and the place behind them; or it is another file now, or begins again. */
export type Followed = { readonly lines: readonly string[]; readonly place: Place } | "reset";

/** Where one is in a file: which file it is, and how many bytes of it are read. */
export interface Place {
  readonly file: string;
  readonly offset: number;
}

/** At most so much is read at once. */
const CHUNK = 256 * 1024;
/** A line that is longer is nobody's record, and is passed over. */
const LONGEST = 16 * 1024 * 1024;
/** Where nothing tells of changes (network disks), one looks as often as that. */
const LOOK_MS = 500;

/**
 * The lines of a file, and then those that it gets, until the signal aborts. It waits for a file that is not there yet,
 * and for the end of a line that is half written; a file that was replaced or cut off is read from its beginning.
 */
export async function* follow(
  path: string,
  signal: AbortSignal,
  from?: Place,
): AsyncGenerator<Followed, void, undefined> {
  using changes = new Changes(path, signal);
  const chunk = Buffer.allocUnsafe(CHUNK);
  let place = from;
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  // Kept open, so that no other file gets its number.
  let handle: FileHandle | undefined;
  try {
    while (!signal.aborted) {
      // Before the look, so that nothing is missed between the two.
      const changed = changes.next();
      const now = await identityOf(path);
      if (!now) {
        await changed;
        continue;
      }
      if (place && (place.file !== now.file || now.size < place.offset + rest.length)) {
        yield "reset";
        place = undefined;
        rest = Buffer.alloc(0);
        isTooLong = false;
        await handle?.close();
        handle = undefined;
      }
      handle ??= await open(path, "r");
      place ??= { file: now.file, offset: 0 };
      const { bytesRead } = await handle.read(chunk, 0, CHUNK, place.offset + rest.length);
      if (bytesRead === 0) {
        await changed;
        continue;
      }
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(NEW_LINE) + 1;
      rest = bytes.subarray(end);
      if (end > 0) {
        const lines = bytes.toString("utf8", 0, end - 1).split("\n");
        // What is left of a line of which the beginning was passed over.
        if (isTooLong) lines.shift();
        isTooLong = false;
        place = { file: place.file, offset: place.offset + end };
        yield { lines, place };
      }
      if (rest.length > LONGEST) {
        isTooLong = true;
        place = { file: place.file, offset: place.offset + rest.length };
        rest = Buffer.alloc(0);
      }
    }
  } finally {
    await handle?.close();
  }
}

const NEW_LINE = 10;

/** Which file stands there, and how long it is; `undefined` when there is none. */
async function identityOf(path: string): Promise<{ file: string; size: number } | undefined> {
  try {
    const { dev, ino, size } = await stat(path);
    return { file: `${dev}-${ino}`, size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Tells when there may be something new: when the folder says so, and every now and then. */
class Changes implements Disposable {
  #waiting: PromiseWithResolvers<void> | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #watcher: ReturnType<typeof watch> | undefined;

  constructor(path: string, signal: AbortSignal) {
    const tell = (): void => {
      this.#waiting?.resolve();
      this.#waiting = undefined;
    };
    this.#timer = setInterval(tell, LOOK_MS);
    signal.addEventListener("abort", tell);
    try {
      // The folder and not the file, which may not be there yet, or be replaced.
      this.#watcher = watch(dirname(path), { persistent: false }, tell);
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // There is no such folder, or it cannot be watched: looking has to do.
    }
  }

  next(): Promise<void> {
    this.#waiting ??= Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
  }
}
