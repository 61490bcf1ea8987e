import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeSseFrame, SSE_HEARTBEAT, parseSse, type ParsedSseEvent, type SseLimits } from "./sse.ts";

async function parseChunks(
  chunks: readonly (string | Uint8Array)[],
  limits?: SseLimits,
): Promise<ParsedSseEvent[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
  }
  const events: ParsedSseEvent[] = [];
  for await (const event of parseSse(bytes(), limits)) events.push(event);
  return events;
}

describe("a stream of server-sent events", () => {
  it("is parsed into the encoded events for any split of its bytes [D-06] [E4]", async () => {
    const events = fc.array(fc.record({ data: fc.json(), id: fc.nat() }), { maxLength: 8 });
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(events, cuts, async (events, cuts) => {
        const text = events.map(({ data, id }) => SSE_HEARTBEAT + encodeSseFrame(data, id)).join("");
        const bytes = new TextEncoder().encode(text);
        const places = [
          0,
          ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b),
          bytes.length,
        ];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(await parseChunks(chunks)).toEqual(events.map(({ data, id }) => ({ data, id: String(id) })));
      }),
    );
  });

  it("may use CR, LF, or CRLF, start with a BOM, and have data over several lines", async () => {
    expect(
      await parseChunks([
        "\ufeffid: 7\r\nevent: e\r",
        "\ndata: a\r\ndata:b\r\n\r\n",
        ": note\rdata: c\r\r",
        "\n",
      ]),
    ).toEqual([{ id: "7", event: "e", data: "a\nb" }, { data: "c" }]);
  });

  it("that ends within an event does not yield that event", async () => {
    expect(await parseChunks([encodeSseFrame("1", 1), "id: 2\ndata: 2\n"])).toEqual([{ id: "1", data: "1" }]);
  });

  it("that never ends an event fails at the size limit [E14]", async () => {
    const endless = Array.from({ length: 50 }, () => "x".repeat(100));
    await expect(parseChunks(["data: ", ...endless], { maxEventBytes: 1_000 })).rejects.toMatchObject({
      reason: "INVALID_AGENT_RESPONSE",
    });
  });
});
