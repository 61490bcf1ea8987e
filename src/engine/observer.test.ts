import { expect, it } from "vitest";
import { flushEventLoopForTest } from "./engine.fixture.ts";
import { withSafeListeners, type Observer } from "./observer.ts";

const LISTENER_NAMES = {
  onEvent: true,
  onRun: true,
  onPush: true,
  onSweep: true,
  onStoreState: true,
  onError: true,
  onCredentialsRejected: true,
  onRequest: true,
} as const satisfies Record<keyof Observer, true>;

it.each(Object.keys(LISTENER_NAMES) as (keyof Observer)[])(
  "%s receives its reports with the observer as `this`, and may throw or reject",
  async (name) => {
    const failures = [() => {}, () => Promise.reject(new Error("rejected")), () => fail()];
    for (const failure of failures) {
      const seen: unknown[] = [];
      const observer = {
        [name](this: unknown, report: unknown) {
          seen.push(this, report);
          return failure();
        },
      } as Observer;
      const safe = withSafeListeners(observer);
      expect(Object.keys(safe)).toEqual([name]);
      (safe[name] as (report: unknown) => void)("report");
      await flushEventLoopForTest();
      expect(seen).toEqual([observer, "report"]);
    }
  },
);

function fail(): never {
  throw new Error("thrown");
}
