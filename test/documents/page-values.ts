import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Ids are UUIDs; an API key is one of a kind, too. */
const ID_PATTERN = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\bclq_[\da-f]{12}_[\w-]{43}/g;
const TIME_PATTERN = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const PORT_PATTERN = /(?<=:|port:? |--port |--grpc-port )\d{4,5}\b/g;

/**
 * What the ids and ports of a page are here: each port is one that is free, and an id that the page shows is the one that
 * was printed where it stands first. So a page can show a session as it was, with commands that repeat its ids.
 */
export class PageValues {
  readonly #ports = new Map<string, string>();
  readonly #ids = new Map<string, string>();

  static async create(markdown: string): Promise<PageValues> {
    const meanings = new PageValues();
    // 4120 is that of `colloquy serve` when nothing is said.
    for (const port of new Set(["4120", ...(markdown.match(PORT_PATTERN) ?? [])]))
      meanings.#ports.set(port, String(await findFreePort()));
    return meanings;
  }

  /** A command or a file of the page, for here. */
  toActual(text: string): string {
    let said = text;
    for (const [shown, actual] of [...this.#ports, ...this.#ids])
      said = said.replaceAll(new RegExp(`\\b${shown}\\b`, "g"), actual);
    return said;
  }

  /** What was printed here, as the page would have it. */
  toShown(text: string): string {
    let said = text;
    for (const [shown, actual] of [...this.#ports, ...this.#ids])
      said = said.replaceAll(new RegExp(`\\b${actual}\\b`, "g"), shown);
    return said.replaceAll(/[^\S\n]+$/gm, "");
  }

  /**
   * The end of what the page shows in what was printed; undefined where that is something else. `…` stands for any text in
   * a line, and alone in a line for any lines. What ids mean is learned here.
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

// In a regular expression a hyphen and a colon need no escape, a point does.
const ESCAPED_TIME_PATTERN = new RegExp(TIME_PATTERN.source.replace("\\.", "\\\\\\."), "g");

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
