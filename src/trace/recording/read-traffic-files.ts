import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { decodeTrafficLine, type DecodedTrafficLine } from "../decode-traffic-line.ts";

/** A line of a record file, with its position. */
export type ReadTrafficLine = DecodedTrafficLine & {
  readonly file: string;
  /** Number of the line in its file, starting at 1. */
  readonly lineNumber: number;
};

/**
 * Reads the lines of a record in the order in which they were written: first the rotated files (`FILE.2`, `FILE.1`),
 * and then the file itself. Decompresses files whose names end in `.gz`. Rejects if no file exists.
 */
export async function* readTrafficFile(path: string): AsyncGenerator<ReadTrafficLine, void, undefined> {
  for (const file of await listTrafficFiles(path)) {
    const input = createReadStream(file);
    const bytes = file.endsWith(".gz") ? input.pipe(createGunzip()) : input;
    if (bytes !== input) input.on("error", (error) => bytes.destroy(error));
    let lineNumber = 0;
    for await (const text of splitLines(bytes)) {
      lineNumber += 1;
      if (text !== "") yield { ...decodeTrafficLine(text), file, lineNumber };
    }
  }
}

/** `node:readline` also splits at U+2028 and U+2029, which JSON texts may contain. */
async function* splitLines(bytes: Readable): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const chunk of bytes.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = chunk.split("\n");
    lines[0] = rest + (lines[0] ?? "");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

/** Returns the files of a record, oldest first. The last file is `path` itself, also if it does not exist. */
export async function listTrafficFiles(path: string): Promise<string[]> {
  const name = basename(path);
  const siblings = await readdir(dirname(path)).catch(() => []);
  const rotated = siblings.flatMap((sibling) => {
    const number = sibling.startsWith(`${name}.`)
      ? /^\.(\d{1,6})(?:\.gz)?$/.exec(sibling.slice(name.length))?.[1]
      : undefined;
    return number === undefined ? [] : [{ number: Number(number), file: join(dirname(path), sibling) }];
  });
  return [...rotated.toSorted((a, b) => b.number - a.number).map(({ file }) => file), path];
}
