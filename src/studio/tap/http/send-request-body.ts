import type { Writable } from "node:stream";
import type { BoundedBodyCopy } from "./bounded-body-copy.ts";
import { writeAndDrain } from "./write-response-bytes.ts";

/** Sends the `held` chunks of a request body, and then `chunks` as they arrive, which it copies for the record. */
export async function sendRequestBody(
  upstream: Writable,
  held: readonly Buffer[],
  chunks: AsyncIterator<Buffer, void>,
  copy: BoundedBodyCopy,
): Promise<void> {
  for (const chunk of held) await writeAndDrain(upstream, chunk);
  for (;;) {
    const next = await chunks.next();
    if (next.done) break;
    copy.add(next.value);
    if (upstream.destroyed) return;
    await writeAndDrain(upstream, next.value);
  }
  upstream.end();
}
