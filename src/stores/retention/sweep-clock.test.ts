import { describe, expect, it } from "vitest";
import { FakeClock } from "../../engine/engine.fixture.ts";
import { readSweepClocks } from "./sweep-clock.ts";
import type { SweepClockStore } from "../index.ts";

describe("readSweepClocks", () => {
  it("repeats a query of the store's clock during which the machine was suspended", async () => {
    const clock = new FakeClock();
    let databaseTime = 5_000;
    let suspensions = 1;
    const store: SweepClockStore = {
      read: async () => {
        const wallMs = databaseTime;
        if (suspensions-- > 0) {
          clock.advance(86_400_000);
          databaseTime += 86_400_000;
        }
        return { record: undefined, wallMs };
      },
      write: async () => {},
    };
    expect(await readSweepClocks(clock, store)).toEqual({
      record: undefined,
      wallMs: 86_405_000,
      monotonicMs: clock.monotonic(),
    });
    // A database that is always slow determines the time, too.
    suspensions = Infinity;
    expect((await readSweepClocks(clock, store)).monotonicMs).toBe(clock.monotonic());
  });
});
