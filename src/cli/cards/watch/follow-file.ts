import { watch } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** New complete lines of a file. The value `"reset"` means that the watched file was replaced or truncated. */
export type FileFollowEvent = { readonly lines: readonly string[] } | "reset";

/** Position in a file: the identity of the file and the number of bytes before the position. */
interface FileIdAndOffset {
  readonly fileId: string;
  readonly offset: number;
}

/** Maximum number of bytes that one read operation returns. */
const READ_SIZE = 256 * 1024;
/** Maximum length of a file line in bytes. The reader skips longer lines, because no record is that long. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Polling interval in milliseconds for file systems without change notifications, such as network drives. */
const POLL_INTERVAL_MS = 500;

/**
 * Yields all existing lines of a file, and then each new line, until the signal aborts. The function waits
 * for a missing file to appear and for an incomplete line to end. After a replacement or a truncation, the
 * function reads the file from the start.
 */
export async function* followFile(
  path: string,
  signal: AbortSignal,
): AsyncGenerator<FileFollowEvent, void, undefined> {
  using changes = new FileChangeWatcher(path, signal);
  const chunk = Buffer.allocUnsafe(READ_SIZE);
  let position: FileIdAndOffset | undefined;
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  // An open handle keeps the inode number from being reused for another file.
  let handle: FileHandle | undefined;
  try {
    while (!signal.aborted) {
      // Subscribes before reading, so that no change between the two is missed.
      const changed = changes.waitForChange();
      const now = await readFileIdentity(path);
      if (!now) {
        await changed;
        continue;
      }
      if (position && (position.fileId !== now.file || now.size < position.offset + rest.length)) {
        yield "reset";
        position = undefined;
        rest = Buffer.alloc(0);
        isTooLong = false;
        await handle?.close();
        handle = undefined;
      }
      handle ??= await open(path, "r");
      position ??= { fileId: now.file, offset: 0 };
      const { bytesRead } = await handle.read(chunk, 0, READ_SIZE, position.offset + rest.length);
      if (bytesRead === 0) {
        await changed;
        continue;
      }
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      rest = bytes.subarray(end);
      if (end > 0) {
        const lines = bytes.toString("utf8", 0, end - 1).split("\n");
        // Drops the rest of a line whose start was skipped.
        if (isTooLong) lines.shift();
        isTooLong = false;
        position = { fileId: position.fileId, offset: position.offset + end };
        yield { lines };
      }
      if (rest.length > MAX_LINE_BYTES) {
        isTooLong = true;
        position = { fileId: position.fileId, offset: position.offset + rest.length };
        rest = Buffer.alloc(0);
      }
    }
  } finally {
    await handle?.close();
  }
}

const LINE_FEED = 10;

/** Returns the identity and size of a file, or `undefined` if the file does not exist. */
async function readFileIdentity(path: string): Promise<{ file: string; size: number } | undefined> {
  try {
    const { dev, ino, size } = await stat(path);
    return { file: `${dev}-${ino}`, size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Reports that a file may have changed, after each folder notification and at a fixed interval. */
class FileChangeWatcher implements Disposable {
  #pendingChange: PromiseWithResolvers<void> | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #watcher: ReturnType<typeof watch> | undefined;

  constructor(path: string, signal: AbortSignal) {
    const notify = (): void => {
      this.#pendingChange?.resolve();
      this.#pendingChange = undefined;
    };
    this.#timer = setInterval(notify, POLL_INTERVAL_MS);
    signal.addEventListener("abort", notify);
    try {
      // Watches the folder instead of the file, because the file may not exist yet or may be replaced.
      this.#watcher = watch(dirname(path), { persistent: false }, notify);
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // Without a watchable folder, the polling interval alone detects changes.
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
