/** A JSON text that `encodeFuzzJson` inserts without change. The text need not be valid JSON. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object whose members keep their order and may have the same name twice. */
export class FuzzObject {
  readonly members: [key: string, value: unknown][];

  constructor(members: [key: string, value: unknown][]) {
    this.members = members;
  }
}

/** Converts a JSON value to a mutable tree, whose objects are `FuzzObject`s. */
export function toFuzzTree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toFuzzTree);
  if (value === null || typeof value !== "object" || value instanceof RawJson) return value;
  return new FuzzObject(Object.entries(value).map(([key, member]) => [key, toFuzzTree(member)]));
}

/** Encodes a tree as JSON text. Unlike `JSON.stringify`, writes lone surrogates, raw texts, and repeated names. */
export function encodeFuzzJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(encodeFuzzJson).join()}]`;
  if (value instanceof FuzzObject)
    return `{${value.members.map(([key, member]) => `${JSON.stringify(key)}:${encodeFuzzJson(member)}`).join()}}`;
  return JSON.stringify(value) ?? "null";
}
