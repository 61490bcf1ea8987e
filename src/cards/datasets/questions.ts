import { A2AError, isObject } from "../../protocol/index.ts";
import type { HotpotQaSample, Paragraph, QuestionSample } from "./dataset-sample.ts";

/** Names of the columns or members that contain the parts of a problem. */
export interface QuestionFields {
  /** Default: the first of `question`, `prompt`, `input`, and `problem` that the first record has. */
  readonly question?: string;
  /** Default: the first of `answer`, `target`, `gold`, `output`, and `solution` that the first record has. */
  readonly answer?: string;
  /** Default: `id` or `_id`. Records without an ID are numbered. */
  readonly id?: string;
  /** Source documents. Default: `context` or `documents`, if the first record has one. */
  readonly documents?: string;
}

const DEFAULT_FIELDS: Readonly<Record<keyof QuestionFields, readonly string[]>> = {
  question: ["question", "prompt", "input", "problem"],
  answer: ["answer", "target", "gold", "output", "solution"],
  id: ["id", "_id"],
  documents: ["context", "documents"],
};

/**
 * Parses questions from a CSV file, a JSON array, JSON Lines, or an export of Hugging Face with `rows`. The ID of a
 * problem is `q_` and the ID of the record, or the position of the record if its ID is missing or contains other characters
 * than letters, digits, and `_ . -`.
 */
export function decodeQuestions(text: string, file: string, fields: QuestionFields = {}): QuestionSample[] {
  const records = decodeRecords(text, file);
  const find = (part: keyof QuestionFields): string | undefined =>
    fields[part] ?? DEFAULT_FIELDS[part].find((name) => records[0]?.has(name));
  const require = (part: "question" | "answer"): string => {
    const name = find(part);
    if (name !== undefined) return name;
    throw new A2AError(
      "INVALID_PARAMS",
      `${file}: the first record has no ${part}. Name its column with --fields ${part}=<name>.`,
    );
  };
  const [question, answer, id, documents] = [
    require("question"),
    require("answer"),
    find("id"),
    find("documents"),
  ];
  const ids = new Set<string>();
  return records.map((record, index) => {
    const key = id === undefined ? "" : record.getText(id);
    let sampleId = `q_${/^[\p{L}\p{M}\p{N}_.-]{1,100}$/u.test(key) && !ids.has(`q_${key}`) ? key : index}`;
    // The position of one record can be the ID of another.
    while (ids.has(sampleId)) sampleId += "_";
    ids.add(sampleId);
    return {
      dataset: "questions",
      id: sampleId,
      question: record.getText(question),
      gold: record.getText(answer),
      paragraphs: documents === undefined ? [] : decodeDocuments(record, documents),
    };
  });
}

function decodeRecords(text: string, file: string): DataRecord[] {
  if (/\.csv$/i.test(file)) return parseCsv(text, file);
  const records = decodeJsonRecords(text, file);
  const [only] = records;
  // The API of Hugging Face returns one object with `rows`, whose elements contain a `row`.
  return only && records.length === 1 && only.has("rows") ? only.getRows("rows", "row") : records;
}

/**
 * Parses a HotpotQA file for the distractor setting. The file contains the official JSON array, the same records as JSON
 * Lines, or the rows of Hugging Face.
 */
export function decodeHotpotQa(text: string, file: string): HotpotQaSample[] {
  const ids = new Set<string>();
  return decodeRecords(text, file).map((record, index) => {
    const key = ["dev_index", "_id", "id"].find((name) => record.has(name));
    const id = `hotpotqa_${key === undefined ? index : record.getText(key)}`;
    if (ids.has(id)) throw createMalformedDataError(file, `two records have the ID ${id}`);
    ids.add(id);
    if (!record.has("context")) throw record.createFieldError("context", "is missing");
    return {
      dataset: "hotpotqa",
      id,
      question: record.getString("question"),
      gold: record.getString("answer"),
      paragraphs: decodeDocuments(record, "context"),
    };
  });
}

/** Decodes documents: a text, a list of texts, pairs of title and sentences, or two parallel lists. */
function decodeDocuments(record: DataRecord, name: string): Paragraph[] {
  const value = record.getValue(name);
  if (value === undefined || value === null || value === "") return [];
  if (typeof value === "string") return [{ title: "context", sentences: [value] }];
  const entries = Array.isArray(value) ? value : zipColumns(value);
  const paragraphs = entries?.map((entry: unknown, index): Paragraph | undefined => {
    if (typeof entry === "string") return { title: `document ${index + 1}`, sentences: [entry] };
    if (!Array.isArray(entry)) return undefined;
    const [title, sentences] = entry as unknown[];
    const list = typeof sentences === "string" ? [sentences] : sentences;
    return typeof title === "string" && isStringArray(list) ? { title, sentences: list } : undefined;
  });
  if (paragraphs?.every((paragraph) => paragraph !== undefined)) return paragraphs;
  throw record.createFieldError(name, "contains no documents; use texts, or pairs of a title and sentences");
}

function zipColumns(value: object): unknown[] | undefined {
  const { title, sentences } = value as { title?: unknown; sentences?: unknown };
  if (!Array.isArray(title) || !Array.isArray(sentences)) return undefined;
  return title.map((one: unknown, index) => [one, sentences[index]]);
}

/** Parses a CSV file with a header line (RFC 4180). Quoted fields may contain commas and line breaks. */
function parseCsv(text: string, file: string): DataRecord[] {
  const [header, ...rows] = splitCsvRows(text.replace(/^\uFEFF/, ""), file);
  return rows.map((row, index) => {
    const where = `${file}, record ${index + 1}`;
    if (row.length !== header?.length)
      throw createMalformedDataError(
        where,
        `${row.length} fields, but the header has ${header?.length ?? 0}`,
      );
    return new DataRecord(Object.fromEntries(header.map((name, at) => [name.trim(), row[at]])), where);
  });
}

function splitCsvRows(text: string, file: string): string[][] {
  const rows: string[][] = [[]];
  const field = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
  let at = 0;
  while (at < text.length) {
    field.lastIndex = at;
    const [whole = "", quoted, plain = ""] = field.exec(text) ?? [];
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    at += whole.length;
    const [separator = ""] = /^(?:,|\r?\n|$)/.exec(text.slice(at, at + 2)) ?? ["?"];
    if (separator === "?")
      throw createMalformedDataError(file, `row ${rows.length} has a quotation mark inside a field`);
    at += separator.length;
    if (separator !== "," && at < text.length) rows.push([]);
    // A comma at the end of the text precedes an empty field.
    if (separator === "," && at === text.length) rows.at(-1)?.push("");
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}

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
