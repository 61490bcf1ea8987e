import { A2AError } from "../../protocol/index.ts";

/** A JSON object of a data file, with the place where it stands: what is wrong with it is said with file and line. */
export class DataRecord {
  readonly where: string;
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown, where: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw malformed(where, "a record is a JSON object");
    this.where = where;
    this.#members = value as Readonly<Record<string, unknown>>;
  }

  text(name: string): string {
    const value = this.#members[name];
    if (typeof value !== "string") throw this.wrong(name, "is not a string");
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.#members[name] === undefined ? undefined : this.text(name);
  }

  flag(name: string): boolean {
    const value = this.#members[name];
    if (typeof value !== "boolean") throw this.wrong(name, "is neither true nor false");
    return value;
  }

  optionalIndex(name: string): number | undefined {
    const value = this.#members[name];
    if (value === undefined) return undefined;
    if (!isIndex(value)) throw this.wrong(name, "is not a whole number from 0");
    return value;
  }

  inner(name: string): DataRecord {
    return new DataRecord(this.#members[name], `${this.where}, ${JSON.stringify(name)}`);
  }

  /** A list of pairs, `[[first, second], …]`. */
  pairs<Second>(name: string, isSecond: (value: unknown) => value is Second): (readonly [string, Second])[] {
    const value = this.#members[name];
    if (!Array.isArray(value)) throw this.wrong(name, "is not a list");
    return value.map((pair: unknown) => {
      if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== "string" || !isSecond(pair[1]))
        throw this.wrong(name, "has an entry of another form than the official one");
      return [pair[0], pair[1]];
    });
  }

  wrong(name: string, what: string): A2AError {
    return malformed(this.where, `${JSON.stringify(name)} ${what}`);
  }
}

export function isIndex(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The records of a JSON Lines file. Empty lines are passed over, and count. */
export function recordsOfLines(text: string, file: string): DataRecord[] {
  return withoutMark(text)
    .split("\n")
    .flatMap((line, index) => {
      const where = `${file}:${index + 1}`;
      return line.trim() === "" ? [] : [new DataRecord(parse(line, where), where)];
    });
}

/** The records of a file that is one JSON list, or JSON Lines. */
export function recordsOf(text: string, file: string): DataRecord[] {
  const json = withoutMark(text);
  if (!json.trimStart().startsWith("[")) return recordsOfLines(json, file);
  const list = parse(json, file) as unknown[];
  return list.map((value, index) => new DataRecord(value, `${file}, record ${index + 1}`));
}

function parse(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw malformed(where, "this is not JSON, perhaps cut off", cause);
  }
}

/** Some editors put a byte order mark in front. */
function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

export function malformed(where: string, what: string, cause?: unknown): A2AError {
  return new A2AError("INVALID_PARAMS", `${where}: ${what}. Take the file as its authors publish it.`, {
    cause,
  });
}
