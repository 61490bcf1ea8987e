import { A2AError, type LogEvent } from "../../protocol/index.ts";

/**
 * Maximum size of a row with several events, and of one event, in bytes of JSON. Cloudflare limits a row to 2 MB, and the
 * other columns of a row need some bytes.
 */
export const MAX_ROW_BYTES = 1_900_000;

/** Throws `RESOURCE_EXHAUSTED` if an event is too large for a row. */
export function assertEventsFit(events: readonly LogEvent[]): void {
  for (const { jsonText } of events) {
    // A character has at most three bytes.
    if (jsonText.length * 3 <= MAX_ROW_BYTES) continue;
    const bytes = Buffer.byteLength(jsonText);
    if (bytes <= MAX_ROW_BYTES) continue;
    throw new A2AError(
      "RESOURCE_EXHAUSTED",
      `An event has ${bytes} bytes of JSON, and a Durable Object stores at most ${MAX_ROW_BYTES} bytes per event; send several smaller chunks, or the URL of the file.`,
    );
  }
}
