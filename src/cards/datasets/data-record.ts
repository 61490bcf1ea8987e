import { A2AError } from "../../protocol/index.ts";

/** A JSON object in a dataset file, with its location for error messages. */
export class DataRecord {
  readonly location: string;
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown, where: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw createMalformedDataError(where, "a record must be a JSON object");
    this.location = where;
    this.#members = value as Readonly<Record<string, unknown>>;
  }

  getString(name: string): string {
    const value = this.#members[name];
    if (typeof value !== "string") throw this.createFieldError(name, "is not a string");
    return value;
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined;
  }

  getValue(name: string): unknown {
    return this.#members[name];
  }

  /** Returns a text, a number, or a boolean as text. */
  getText(name: string): string {
    const value = this.#members[name];
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return this.getString(name);
  }

  /** Returns the member `inner` of each element of an array. */
  getRows(name: string, inner: string): DataRecord[] {
    const value = this.#members[name];
    if (!Array.isArray(value)) throw this.createFieldError(name, "is not an array");
    return value.map((row: unknown, index) =>
      new DataRecord(row, `${this.location}, row ${index + 1}`).getNestedRecord(inner),
    );
  }

  getOptionalString(name: string): string | undefined {
    return this.#members[name] === undefined ? undefined : this.getString(name);
  }

  getBoolean(name: string): boolean {
    const value = this.#members[name];
    if (typeof value !== "boolean") throw this.createFieldError(name, "is not a boolean");
    return value;
  }

  getOptionalIndex(name: string): number | undefined {
    const value = this.#members[name];
    if (value === undefined) return undefined;
    if (!isNonNegativeInteger(value)) throw this.createFieldError(name, "is not a non-negative integer");
    return value;
  }

  getNestedRecord(name: string): DataRecord {
    return new DataRecord(this.#members[name], `${this.location}, ${JSON.stringify(name)}`);
  }

  /** Reads a member whose value must be an array of pairs. Throws if an entry of the array is not a pair. */
  getPairArray<Second>(
    name: string,
    isSecond: (value: unknown) => value is Second,
  ): (readonly [string, Second])[] {
    const value = this.#members[name];
    if (!Array.isArray(value)) throw this.createFieldError(name, "is not an array");
    return value.map((pair: unknown) => {
      if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== "string" || !isSecond(pair[1]))
        throw this.createFieldError(name, "has an entry that is not a pair of the official format");
      return [pair[0], pair[1]];
    });
  }

  createFieldError(name: string, what: string): A2AError {
    return createMalformedDataError(this.location, `${JSON.stringify(name)} ${what}`);
  }
}

export function isNonNegativeInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Parses the records of a JSON Lines file. The parser skips empty lines but counts them in line numbers. */
export function decodeJsonLines(text: string, file: string): DataRecord[] {
  return stripByteOrderMark(text)
    .split("\n")
    .flatMap((line, index) => {
      const where = `${file}:${index + 1}`;
      return line.trim() === "" ? [] : [new DataRecord(parseJson(line, where), where)];
    });
}

/** Parses the records of a dataset file that contains either a JSON array or JSON Lines. */
export function decodeJsonRecords(text: string, file: string): DataRecord[] {
  const json = stripByteOrderMark(text);
  if (!json.trimStart().startsWith("[")) return decodeJsonLines(json, file);
  const list = parseJson(json, file) as unknown[];
  return list.map((value, index) => new DataRecord(value, `${file}, record ${index + 1}`));
}

function parseJson(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw createMalformedDataError(where, "invalid JSON, perhaps truncated", cause);
  }
}

function stripByteOrderMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Creates an INVALID_PARAMS error for a dataset file that differs from its published format. */
export function createMalformedDataError(where: string, what: string, cause?: unknown): A2AError {
  return new A2AError(
    "INVALID_PARAMS",
    `${where}: ${what}. Correct the file, or use it as published by its authors.`,
    {
      cause,
    },
  );
}
