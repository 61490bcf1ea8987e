import { describe, expect, it } from "vitest";
import { FakeClock } from "../../engine/engine.fixture.ts";
import type { StalledReaderReport } from "../../engine/index.ts";
import { WriteStallWatch } from "./write-stall-watch.ts";

const stranger = { remoteAddress: "192.0.2.1" };

function createStallWatchFixture(timeoutMs = 60_000): {
  clock: FakeClock;
  watch: WriteStallWatch;
  reports: StalledReaderReport[];
} {
  const clock = new FakeClock();
  const reports: StalledReaderReport[] = [];
  const observer = { onReaderStalled: (report: StalledReaderReport) => reports.push(report) };
  return { clock, watch: new WriteStallWatch({ clock, timeoutMs, observer }), reports };
}

describe("the watch for stalled writes", () => {
  it("disconnects exactly the clients that took no byte within the timeout", () => {
    const { clock, watch, reports } = createStallWatchFixture();
    const disconnected: string[] = [];
    watch.watch(stranger, () => disconnected.push("stalled"));
    clock.advance(30_000);
    watch.watch(stranger, () => disconnected.push("later"));
    const stop = watch.watch(stranger, () => disconnected.push("slow"));
    clock.advance(29_999);
    expect(disconnected).toEqual([]);
    clock.advance(1);
    expect(disconnected).toEqual(["stalled"]);
    stop();
    clock.advance(30_000);
    expect(disconnected).toEqual(["stalled", "later"]);
    expect(reports[0]).toEqual({ ...stranger, connections: 1, timeoutMs: 60_000 });
  });

  it("reports each remote address at most once per minute, with the number of connections", () => {
    const { clock, watch, reports } = createStallWatchFixture(1000);
    for (let count = 0; count < 100; count++) watch.watch(stranger, () => {});
    watch.watch({ remoteAddress: "192.0.2.2" }, () => {});
    clock.advance(1000);
    expect(reports.map(({ remoteAddress, connections }) => [remoteAddress, connections])).toEqual([
      ["192.0.2.1", 1],
      ["192.0.2.2", 1],
    ]);
    clock.advance(60_000);
    watch.watch(stranger, () => {});
    clock.advance(1000);
    expect(reports.at(-1)).toMatchObject({ remoteAddress: "192.0.2.1", connections: 100 });
  });

  it("never disconnects with the timeout 0", () => {
    const { clock, watch } = createStallWatchFixture(0);
    watch.watch(stranger, () => expect.unreachable());
    clock.advance(1e9);
  });
});
