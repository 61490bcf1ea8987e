import { Writable } from "node:stream";
import { replaceControlCharacters } from "../protocol/index.ts";

/** The streams of the process, or of a test. Only `createTerminalStreams` writes to them. */
export interface RawOutputStreams {
  out(text: string): void;
  err(text: string): void;
}

/**
 * Output streams of a command. A command prints only through these streams, which make control characters visible.
 * Text of agents, peers, and files can therefore not rewrite the screen, change the title of a terminal, or change the
 * reading direction of text.
 */
export interface OutputStreams extends RawOutputStreams {
  /** Writes text whose colors the CLI has chosen to stdout. Other control characters become visible. */
  outColored(text: string): void;
  /** `outColored` for stderr. */
  errColored(text: string): void;
  /**
   * Writes a file to stdout, such as a recording in another format. A pipe receives the unchanged content, and a
   * terminal receives printable text.
   */
  outDocument(text: string): void;
  /** Replaces the current line of the terminal on stderr. */
  errReplacingLine(line: string): void;
}

/** Creates the streams of a command. `isTerminal` is true if stdout is a terminal. */
export function createTerminalStreams(raw: RawOutputStreams, isTerminal: boolean): OutputStreams {
  return {
    out: (text) => raw.out(escapeControlCharacters(text)),
    err: (text) => raw.err(escapeControlCharacters(text)),
    outColored: (text) => raw.out(escapeControlCharactersExceptColors(text)),
    errColored: (text) => raw.err(escapeControlCharactersExceptColors(text)),
    outDocument: (text) => raw.out(isTerminal ? escapeControlCharacters(text) : text),
    errReplacingLine: (line) => raw.err(`\r${escapeControlCharacters(line)}\u001b[K`),
  };
}

/** Returns true for a terminal, unless the user has disabled colors (no-color.org). `columns` is its width. */
export function showsColors(
  columns: number | undefined,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return columns !== undefined && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/**
 * Creates a stream for the console of served agents. Agents print text of their callers, and may use colors. The
 * text is written at once, because the process may end at any time.
 */
export function createConsoleStream(raw: Pick<NodeJS.WritableStream, "write">): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, callback) {
      raw.write(escapeControlCharactersExceptColors(String(chunk)));
      callback();
    },
  });
}

/**
 * Replaces control characters with visible characters, except for tabs and line ends. The function also replaces
 * lone surrogates, line separators, and controls of the reading direction (CVE-2021-42574). Joiners stay unchanged,
 * because emoji and several scripts require them.
 */
export function escapeControlCharacters(text: string): string {
  return replaceControlCharacters(text.toWellFormed().replaceAll("\r\n", "\n"));
}

/** Keeps the sequences that only change colors and styles (SGR), for example `ESC[31m`. */
function escapeControlCharactersExceptColors(text: string): string {
  return text
    .split(COLOR_SEQUENCE)
    .map((piece, index) => (index % 2 === 1 ? piece : escapeControlCharacters(piece)))
    .join("");
}

// oxlint-disable-next-line no-control-regex -- the escape character starts a color sequence
const COLOR_SEQUENCE = /(\u001b\[[\d;]{0,20}m)/;
