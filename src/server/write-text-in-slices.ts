import type { HttpReply, ResponseSink } from "./http-exchange.ts";

/**
 * Number of characters that one write copies. Copying 10 MB at once would block the event loop for about 20 ms. A client
 * that takes one slice within `limits.writeStallMs` stays connected.
 */
export const MAX_WRITE_LENGTH: number = 256 * 1024;

/** Returns true if a reply is written in slices. A result in pieces is always long. */
export function isLongText(body: HttpReply["body"]): body is string | readonly string[] {
  return typeof body === "string" ? body.length > MAX_WRITE_LENGTH : typeof body === "object";
}

/**
 * Writes the pieces of a long text in slices, so that other requests run in between. Waits for a slow reader after each
 * slice.
 */
export async function writeTextInSlices(
  pieces: readonly string[],
  sink: Pick<ResponseSink, "write" | "end">,
  isClosed: () => boolean,
): Promise<void> {
  for (const text of pieces) {
    for (const slice of iterateSlices(text)) {
      if (isClosed()) break;
      await sink.write(slice);
      // A socket can take several slices within one turn of the event loop.
      await new Promise(setImmediate);
    }
  }
  sink.end();
}

/** Yields a text in slices of at most `MAX_WRITE_LENGTH` characters. */
export function* iterateSlices(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = Math.min(start + MAX_WRITE_LENGTH, text.length);
    // A slice must not end between the two halves of a surrogate pair, which have no UTF-8 and which JSON escapes.
    const sliceEnd = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    yield text.slice(start, sliceEnd);
    start = sliceEnd;
  }
}

function isHighSurrogate(charCode: number): boolean {
  return charCode >= 0xd800 && charCode <= 0xdbff;
}
