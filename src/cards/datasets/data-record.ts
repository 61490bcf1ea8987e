import { A2AError, isObject } from "../../protocol/index.ts";

/** A JSON object in a dataset file, with its location for error messages. */
export class DataRecord {
  readonly location: string;
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown, where: string) {
    if (!isObject(value)) throw createMalformedDataError(where, "a record must be a JSON object");
    this.location = where;
    this.#members = value;
  }

  /** Returns a member. Throws if its value is invalid. `expected` describes the valid values. */
  get<T>(name: string, isValid: (value: unknown) => value is T, expected: string): T {
    const value = this.#members[name];
    if (isValid(value)) return value;
    throw this.createFieldError(name, `is not ${expected}`);
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined;
  }

  getValue(name: string): unknown {
    return this.#members[name];
  }

  getString(name: string): string {
    return this.get(name, isString, "a string");
  }

  /** Returns a text, a number, or a boolean as text. */
  getText(name: string): string {
    const value = this.#members[name];
    return typeof value === "number" || typeof value === "boolean" ? String(value) : this.getString(name);
  }

  getNestedRecord(name: string): DataRecord {
    return new DataRecord(this.#members[name], `${this.location}, ${JSON.stringify(name)}`);
  }

  /** Returns the member `inner` of each element of an array. */
  getRows(name: string, inner: string): DataRecord[] {
    return this.get(name, isArray, "an array").map((row, index) =>
      new DataRecord(row, `${this.location}, row ${index + 1}`).getNestedRecord(inner),
    );
  }

  createFieldError(name: string, what: string): A2AError {
    return createMalformedDataError(this.location, `${JSON.stringify(name)} ${what}`);
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isArray(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

export function isStringArray(value: unknown): value is string[] {
  return isArray(value) && value.every(isString);
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
