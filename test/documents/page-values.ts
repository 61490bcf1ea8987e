import { findTestPort } from "../support/test-ports.ts";

/** Matches UUIDs and API keys, which differ on every run. */
const ID_PATTERN = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\bclq_[\da-f]{12}_[\w-]{43}/g;
const TIME_PATTERN = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const PORT_PATTERN = /(?<=:|port:? |--port |--grpc-port )\d{4,5}\b/g;

/**
 * Maps the ids and ports of a page to those of the test run. Each port maps to a free port. An id in the page
 * maps to the id printed where it first appears. So a page can show a recorded session with commands that
 * repeat its ids.
 */
export class PageValues {
  readonly #ports = new Map<string, string>();
  readonly #ids = new Map<string, string>();

  static async create(markdown: string): Promise<PageValues> {
    const values = new PageValues();
    // 4120 is the default port of `colloquy serve`.
    for (const port of new Set(["4120", ...(markdown.match(PORT_PATTERN) ?? [])]))
      values.#ports.set(port, String(await findTestPort()));
    return values;
  }

  /** Replaces the page's ids and ports with those of the test run. */
  toActual(text: string): string {
    let result = text;
    for (const [shown, actual] of [...this.#ports, ...this.#ids])
      result = result.replaceAll(new RegExp(`\\b${shown}\\b`, "g"), actual);
    return result;
  }

  /** Replaces the test run's ids and ports with those of the page. */
  toShown(text: string): string {
    let result = text;
    for (const [shown, actual] of [...this.#ports, ...this.#ids])
      result = result.replaceAll(new RegExp(`\\b${actual}\\b`, "g"), shown);
    return result.replaceAll(/[^\S\n]+$/gm, "");
  }

  /**
   * Returns the position in the printed text where the page's text ends, or `undefined` when they differ. `…`
   * matches any text within a line; on a line of its own it matches any number of lines. New ids are added to
   * the mapping.
   */
  matchOutput(page: string, printed: string): number | undefined {
    const known = this.toShown(printed);
    const unknown: string[] = [];
    let source = escapeRegExp(page.replaceAll(/[^\S\n]+$/gm, "").trimEnd()).replaceAll(
      ESCAPED_TIME_PATTERN,
      "\\S+Z",
    );
    source = source.replace(/^…$(?![^])/m, "[^]*").replaceAll(/^…\n/gm, "(?:[^\\n]*\\n)*?");
    source = source.replaceAll("…", "[^\\n]*?");
    source = source.replaceAll(ID_PATTERN, (id) => {
      if (this.#ids.has(id)) return id;
      if (unknown.includes(id)) return `\\k<id${unknown.indexOf(id)}>`;
      unknown.push(id);
      return `(?<id${unknown.length - 1}>${ID_PATTERN.source})`;
    });
    const match = new RegExp(`^${source}(?=\\n|$)`).exec(known);
    if (!match) return undefined;
    for (const [at, id] of unknown.entries()) this.#ids.set(id, match.groups?.[`id${at}`] ?? id);
    return match[0].length;
  }
}

// In a regular expression, hyphens and colons need no escape, but a period does.
const ESCAPED_TIME_PATTERN = new RegExp(TIME_PATTERN.source.replace("\\.", "\\\\\\."), "g");

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
