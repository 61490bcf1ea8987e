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
    if (original instanceof Uint8Array) return { [TYPE_MEMBER]: "bytes", base64: encodeBase64(original) };
    return converted;
  });
}

/** Decodes text of `encodeTypedJson`. Bytes become a `Uint8Array`. */
export function decodeTypedJson(json: string): unknown {
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !(TYPE_MEMBER in value)) return value;
    const { [TYPE_MEMBER]: type, time, base64 } = value as Record<string, unknown>;
    if (type === "date" && typeof time === "number") return new Date(time);
    if (type === "bytes" && typeof base64 === "string") return decodeBase64(base64);
    return value;
  });
}

function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
