import { describe, expect, it } from "vitest";
import { FakeClock } from "../engine/engine.fixture.ts";
import { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import type { ResponseSink } from "./http-exchange.ts";

describe("a streamed fetch response", () => {
  it("stays open after a host has read several writes that waited at once, such as a heartbeat and an event", async () => {
    const clock = new FakeClock();
    const stallWatch = new WriteStallWatch({ clock, timeoutMs: 60_000, observer: {} });
    const request = new FetchRequest(new Request("http://localhost/"));
    let sink: ResponseSink | undefined;
    const { body } = toFetchResponse(
      { status: 200, headers: {}, body: (opened) => (sink = opened) },
      request,
      stallWatch,
    );
    void sink?.write(": keep-alive\n\n");
    void sink?.write("data: 1\n\n");
    const reader = body!.getReader();
    await reader.read();
    await reader.read();
    clock.advance(60_000);
    const next = reader.read();
    sink?.end("data: 2\n\n");
    expect(new TextDecoder().decode((await next).value)).toBe("data: 2\n\n");
  });
});
