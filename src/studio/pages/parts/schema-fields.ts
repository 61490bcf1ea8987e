import { formatJson } from "./json-text.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../protocol/index.ts";

/** A field of a form that a JSON Schema describes. */
export interface SchemaField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly input:
    | {
        readonly type: "text";
        readonly htmlType: "text" | "email" | "url" | "date" | "datetime-local";
        readonly isLong: boolean;
      }
    | { readonly type: "number"; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
    | { readonly type: "checkbox" }
    | { readonly type: "choice"; readonly options: readonly SchemaChoice[] }
    | { readonly type: "choices"; readonly options: readonly SchemaChoice[] }
    /** Anything else is entered as JSON. */
    | { readonly type: "json" };
  readonly initial?: JsonValue;
}

export interface SchemaChoice {
  readonly value: JsonValue;
  readonly title: string;
}

/** A page with more inputs would be slow. The user answers such a schema with JSON or with a text. */
const MAX_FIELDS = 200;
const MAX_CHOICES = 1_000;
/** Length above which a text field has several lines. */
const LONG_TEXT_LENGTH = 200;

const HTML_TYPES: ReadonlyMap<unknown, "email" | "url" | "date" | "datetime-local"> = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["url", "url"],
  ["date", "date"],
  ["date-time", "datetime-local"],
]);

/** Returns the fields of an object schema, or `undefined` if the schema does not describe an object. */
export function listSchemaFields(schema: JsonValue | undefined): SchemaField[] | undefined {
  if (!isObject(schema)) return undefined;
  const { properties, required } = schema;
  if (!isObject(properties) || Object.keys(properties).length > MAX_FIELDS) return undefined;
  const requiredNames = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, property]) => {
    const own: JsonObject = isObject(property) ? property : {};
    const { title, description, default: initial } = own;
    return {
      name,
      title: typeof title === "string" ? title : name,
      ...(typeof description === "string" ? { description } : {}),
      isRequired: requiredNames.has(name),
      input: chooseInput(own),
      ...(initial === undefined ? {} : { initial }),
    };
  });
}

function chooseInput(schema: JsonObject): SchemaField["input"] {
  const options = listChoices(schema);
  if (options !== undefined) return { type: "choice", options };
  // Schemas of Google's libraries have types in upper case.
  const type = typeof schema["type"] === "string" ? schema["type"].toLowerCase() : undefined;
  if (type === "boolean") return { type: "checkbox" };
  if (type === "number" || type === "integer") {
    const { minimum, maximum } = schema;
    return {
      type: "number",
      isInteger: type === "integer",
      ...(typeof minimum === "number" ? { min: minimum } : {}),
      ...(typeof maximum === "number" ? { max: maximum } : {}),
    };
  }
  if (type === "string") {
    const { maxLength, format } = schema;
    const htmlType = HTML_TYPES.get(format) ?? "text";
    const isLong = htmlType === "text" && typeof maxLength === "number" && maxLength > LONG_TEXT_LENGTH;
    return { type: "text", htmlType, isLong };
  }
  const itemOptions =
    type === "array" && isObject(schema["items"]) ? listChoices(schema["items"]) : undefined;
  return itemOptions === undefined ? { type: "json" } : { type: "choices", options: itemOptions };
}

/** Choices come from `enum`, or from `oneOf` and `anyOf` with one `const` each. */
function listChoices(schema: JsonObject): SchemaChoice[] | undefined {
  const { enum: values, enumNames } = schema;
  if (Array.isArray(values) && values.length <= MAX_CHOICES) {
    const names: readonly JsonValue[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, index) => ({ value, title: formatChoice(names[index] ?? value) }));
  }
  const alternatives = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(alternatives) || alternatives.length === 0 || alternatives.length > MAX_CHOICES)
    return undefined;
  const choices: SchemaChoice[] = [];
  for (const alternative of alternatives) {
    if (!isObject(alternative) || !("const" in alternative)) return undefined;
    const { const: value, title } = alternative;
    choices.push({ value: value ?? null, title: formatChoice(title ?? value ?? null) });
  }
  return choices;
}

function formatChoice(value: JsonValue): string {
  return typeof value === "string" ? value : formatJson(value);
}

/** What a field of the form contains: the text of an input, the state of a checkbox, or the chosen positions. */
export type FieldEntry = string | boolean | readonly number[];

/** The value of a form, or the problems of its fields by name. */
export type FormReading =
  | { readonly value: JsonObject }
  | { readonly problems: Readonly<Record<string, string>> };

/** Converts the entries of a form to the value that the schema describes. Empty optional fields are omitted. */
export function readForm(
  fields: readonly SchemaField[],
  entries: Readonly<Record<string, FieldEntry>>,
): FormReading {
  const values = new Map<string, JsonValue>();
  const problems = new Map<string, string>();
  for (const field of fields) {
    const entry = Object.hasOwn(entries, field.name) ? entries[field.name] : undefined;
    const read = readField(field, entry);
    if ("problem" in read) problems.set(field.name, read.problem);
    else if (read.value !== undefined) values.set(field.name, read.value);
    else if (field.isRequired) problems.set(field.name, "A value is required.");
  }
  return problems.size > 0
    ? { problems: Object.fromEntries(problems) }
    : { value: Object.fromEntries(values) };
}

function readField(
  { input }: SchemaField,
  entry: FieldEntry | undefined,
): { readonly value: JsonValue | undefined } | { readonly problem: string } {
  if (input.type === "checkbox") return { value: entry === true };
  if (input.type === "choices") {
    const chosen = Array.isArray(entry) ? (entry as readonly number[]) : [];
    return { value: chosen.map((index) => input.options[index]?.value ?? null) };
  }
  const text = typeof entry === "string" ? entry : "";
  if (text === "") return { value: undefined };
  if (input.type === "choice") return { value: input.options[Number(text)]?.value };
  if (input.type === "number") return readNumber(text, input.isInteger, input.min, input.max);
  if (input.type === "text") {
    if (input.htmlType === "email" && !/^[^\s@]+@[^\s@]+$/.test(text))
      return { problem: "The text is not an email address." };
    if (input.htmlType === "url" && !URL.canParse(text)) return { problem: "The text is not a URL." };
    return { value: text };
  }
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return { problem: "The text is not JSON." };
  }
}

function readNumber(
  text: string,
  isInteger: boolean,
  min = -Infinity,
  max = Infinity,
): { readonly value: number } | { readonly problem: string } {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: "The text is not a number." };
  if (isInteger && !Number.isInteger(value)) return { problem: "The number must be an integer." };
  if (value < min) return { problem: `The number must be at least ${min}.` };
  return value > max ? { problem: `The number must be at most ${max}.` } : { value };
}
