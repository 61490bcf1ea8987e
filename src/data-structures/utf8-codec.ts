/** Reads and writes text as UTF-8 in parts of larger byte arrays. Texts must be well-formed. */
export interface Utf8Codec {
  countBytes(text: string): number;
  /** Allocates bytes with any content. */
  allocate(byteLength: number): Uint8Array;
  /** Writes a text of `byteLength` bytes. */
  write(text: string, bytes: Uint8Array, start: number, byteLength: number): void;
  read(bytes: Uint8Array, start: number, end: number): string;
}

/** A codec on `Buffer`, which is several times faster than `TextEncoder` for short texts. */
export function createBufferUtf8Codec(buffer: typeof Buffer): Utf8Codec {
  return {
    countBytes: (text) => buffer.byteLength(text),
    allocate: (byteLength) => buffer.allocUnsafeSlow(byteLength),
    // Node writes ASCII text faster as `latin1`.
    write: (text, bytes, start, byteLength) =>
      void (bytes as Buffer).write(text, start, byteLength === text.length ? "latin1" : "utf8"),
    read: (bytes, start, end) => (bytes as Buffer).toString("utf8", start, end),
  };
}

/** A codec on web standards, for runtimes without `Buffer`. */
export function createWebUtf8Codec(): Utf8Codec {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    countBytes: (text) => encoder.encode(text).length,
    allocate: (byteLength) => new Uint8Array(byteLength),
    write: (text, bytes, start, byteLength) =>
      void encoder.encodeInto(text, bytes.subarray(start, start + byteLength)),
    read: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
  };
}

/** The codec of this runtime. */
export const utf8Codec: Utf8Codec = /* @__PURE__ */ createRuntimeUtf8Codec();

function createRuntimeUtf8Codec(): Utf8Codec {
  return typeof Buffer === "undefined" ? createWebUtf8Codec() : createBufferUtf8Codec(Buffer);
}
