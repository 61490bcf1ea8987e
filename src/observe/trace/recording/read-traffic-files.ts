import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { SharedTextDecoder } from "../shared-text-decoder.ts";
import { decodeTrafficLine, type DecodedTrafficLine } from "../traffic-line-codec.ts";

/** A line of a record file, with its position. */
export type ReadTrafficLine = DecodedTrafficLine & {
  readonly file: string;
  /** Number of the line in its file, starting at 1. */
  readonly lineNumber: number;
  /** Number of characters of the line. */
  readonly length: number;
  /** What the owner of the file can do about an unreadable line. */
  readonly remedy?: string;
};

const LINE_REMEDY = "Correct or delete the line.";

/** Maximum length of a line in characters. Writers shorten bodies to 65,536 characters. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;

/**
 * Reads the lines of a record in the order in which they were written: first the rotated files (`FILE.2`, `FILE.1`),
 * and then the file itself. Decompresses files whose names end in `.gz`. A line that is too long, and the damaged end of
 * a compressed file, are unreadable lines. Rejects if no file exists. With `lastBytes`, reads only about this many bytes
 * at the end of the record, and no compressed files.
 */
export async function* readTrafficFile(
  path: string,
  { lastBytes = Infinity }: { readonly lastBytes?: number } = {},
): AsyncGenerator<ReadTrafficLine, void, undefined> {
  const texts = new SharedTextDecoder();
  for (const { file, start } of await selectFileParts(await listTrafficFiles(path), lastBytes)) {
    const input = createReadStream(file, { start });
    const bytes = file.endsWith(".gz") ? input.pipe(createGunzip()) : input;
    if (bytes !== input) input.on("error", (error) => bytes.destroy(error));
    let lineNumber = 0;
    try {
      for await (const { text, length } of splitLines(bytes)) {
        lineNumber += 1;
        // The part can begin within a line.
        if (start > 0 && lineNumber === 1) continue;
        if (length > MAX_LINE_LENGTH) {
          const reason = `the line has ${length} characters, more than ${MAX_LINE_LENGTH}`;
          yield { type: "unreadable", reason, remedy: "Delete the line.", file, lineNumber, length };
          continue;
        }
        // Editors and PowerShell add a byte order mark and carriage returns.
        const complete = texts.decode(text.trim());
        if (complete !== undefined && complete !== "") {
          const decoded = decodeTrafficLine(complete);
          const position = { file, lineNumber, length };
          yield decoded.type === "unreadable"
            ? { ...decoded, remedy: LINE_REMEDY, ...position }
            : { ...decoded, ...position };
        }
      }
    } catch (cause) {
      // The lines before the damage are valid. A file that is not compressed at all has none.
      if (bytes === input || lineNumber === 0) throw cause;
      const reason = `the compressed file is damaged here: ${cause instanceof Error ? cause.message : String(cause)}`;
      const remedy = "Copy the file again, because the rest of the file is skipped.";
      yield { type: "unreadable", reason, remedy, file, lineNumber: lineNumber + 1, length: 0 };
    }
  }
}

/** A part of a file, from a position in bytes to the end of the file. */
interface FilePart {
  readonly file: string;
  readonly start: number;
}

/** Returns the parts that contain the last bytes of several files, oldest first. */
async function selectFileParts(files: readonly string[], lastBytes: number): Promise<FilePart[]> {
  if (lastBytes === Infinity) return files.map((file) => ({ file, start: 0 }));
  const parts: FilePart[] = [];
  let rest = lastBytes;
  for (const file of files.toReversed()) {
    if (rest <= 0 || file.endsWith(".gz")) break;
    const { size } = await stat(file);
    parts.unshift({ file, start: Math.max(0, size - rest) });
    rest -= size;
  }
  return parts;
}

/**
 * Yields the lines of a text. `node:readline` also splits at U+2028 and U+2029, which JSON texts may contain. A line
 * that is too long has no text, so that a file without line ends does not fill the memory.
 */
async function* splitLines(bytes: Readable): AsyncGenerator<{ text: string; length: number }> {
  let rest: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    length += text.length;
    if (length <= MAX_LINE_LENGTH) rest.push(text);
    else rest = [];
  };
  for await (const chunk of bytes.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = chunk.split("\n");
    for (const [at, line] of lines.entries()) {
      if (at > 0) {
        yield { text: rest.join(""), length };
        rest = [];
        length = 0;
      }
      add(line);
    }
  }
  if (length > 0) yield { text: rest.join(""), length };
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
