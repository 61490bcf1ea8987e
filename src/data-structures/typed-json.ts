const TYPE_MEMBER = "$colloquy";

/**
 * Encodes a value as JSON text that keeps dates and bytes. Members that JSON cannot represent, such as functions, are
 * omitted.
 */
export function encodeTypedJson(value: unknown): string {
  return JSON.stringify(value, function replace(this: unknown, key: string, converted: unknown): unknown {
    // Before the call, JSON.stringify has converted dates with `toJSON`.
    const original = (this as Record<string, unknown>)[key];
    if (original instanceof Date) return { [TYPE_MEMBER]: "date", time: original.getTime() };
    if (original instanceof Uint8Array)
      return { [TYPE_MEMBER]: "bytes", base64: Buffer.from(original).toString("base64") };
    return converted;
  });
}

/** Decodes text of `encodeTypedJson`. Bytes become a `Uint8Array`. */
export function decodeTypedJson(json: string): unknown {
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !(TYPE_MEMBER in value)) return value;
    const { [TYPE_MEMBER]: type, time, base64 } = value as Record<string, unknown>;
    if (type === "date" && typeof time === "number") return new Date(time);
    if (type === "bytes" && typeof base64 === "string") return new Uint8Array(Buffer.from(base64, "base64"));
    return value;
  });
}
