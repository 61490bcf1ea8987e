import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { SharedTextEncoder } from "../../../observe/trace/recording/index.ts";
import { lockFile } from "./file-lock.ts";
import type { RunSink } from "./run-recorder.ts";

/** Options for `openFileSink`. */
export interface FileSinkOptions {
  /**
   * Whether the sink flushes the file to disk after each problem, so that the record lines of finished
   * problems survive a power failure. If `fsync` is `false`, record lines survive SIGKILL, but not a power
   * failure. Default: `false`.
   */
  readonly fsync?: boolean;
}

const assertKnownOptions = defineOptionNames<FileSinkOptions>()("openFileSink", "fsync");

/** A sink that appends record lines to a file, and stores each long text once. */
export interface FileSink extends RunSink {
  /** Closes the record file and releases its lock. Record lines that are written after `close` are lost. */
  close(): void;
}

/**
 * Opens a record file for appending, and creates the file's folder if necessary. Each record line is written
 * synchronously (in about 1.5 µs), so a killed process loses no written line. Throws `INVALID_REQUEST` if
 * another process writes to the record file.
 */
export function openFileSink(file: string, options: FileSinkOptions = {}): FileSink {
  assertKnownOptions(options);
  const { fsync = false } = options;
  mkdirSync(dirname(file), { recursive: true });
  const unlock = lockFile(file);
  let fd: number | undefined;
  try {
    fd = openSync(file, "a+");
  } catch (cause) {
    unlock();
    throw cause;
  }
  // A process that was killed earlier may have left an incomplete line.
  let isTorn = !endsWithNewline(fd);
  const requireOpen = (): number => {
    if (fd === undefined) throw new Error(`The file ${file} is closed. Open it again to write.`);
    return fd;
  };
  const texts = new SharedTextEncoder();
  let hasHeader = false;
  return {
    isSynchronous: true,
    write: (lines, header) => {
      const descriptor = requireOpen();
      const bytes = Buffer.from(`${isTorn ? "\n" : ""}${hasHeader ? "" : header}${texts.encode(lines)}`);
      let written = 0;
      try {
        // A full disk may accept only part of the bytes.
        while (written < bytes.length) written += writeSync(descriptor, bytes, written);
        isTorn = false;
        hasHeader = true;
      } catch (cause) {
        isTorn ||= written > 0;
        throw cause;
      }
    },
    sync: () => {
      if (fsync) fsyncSync(requireOpen());
    },
    close: () => {
      if (fd === undefined) return;
      closeSync(fd);
      fd = undefined;
      unlock();
    },
  };
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last.toString() === "\n";
}
