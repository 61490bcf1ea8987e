import { expect, it } from "vitest";
import {
  alice,
  createEngineFixture,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  workingTestEvent,
} from "./engine.fixture.ts";
import { withSafeListeners, type Observer } from "./observer.ts";

const LISTENER_NAMES = {
  onEvent: true,
  onRun: true,
  onAgentCall: true,
  onCommit: true,
  onPush: true,
  onSweep: true,
  onStoreState: true,
  onStoreMigration: true,
  onStoreGauges: true,
  onError: true,
  onWarning: true,
  onCredentialsRejected: true,
  onReaderStalled: true,
  onRequest: true,
  onOperatorAccess: true,
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

it("onRun reports no error of an agent that ends with the abort of a canceled task", async () => {
  const reports: unknown[] = [];
  const { engine, agent } = createEngineFixture({
    observer: { onRun: ({ phase, ...report }) => reports.push([phase, report.error]) },
  });
  const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  const run = await agent.waitForRun(0);
  run.emit(workingTestEvent);
  await flushEventLoopForTest();
  const { signal, taskId } = run.run;
  signal.addEventListener("abort", () => run.fail(signal.reason as Error));
  await engine.cancelTask({ id: taskId }, alice);
  await answer;
  expect(reports).toEqual([
    ["begin", undefined],
    ["end", undefined],
  ]);
});

it("onRun reports the begin and the end of each turn, and the error of the agent", async () => {
  const error = new Error("broken");
  const reports: unknown[] = [];
  const { engine, agent } = createEngineFixture({
    observer: { onRun: ({ phase, ...report }) => reports.push([phase, report.error]) },
  });
  const answers = ["a", "b"].map((text) => engine.sendMessage(createTestSendMessageRequest(text), alice));
  const run = await agent.waitForRun(1);
  expect(reports).toEqual([
    ["begin", undefined],
    ["begin", undefined],
  ]);
  run.fail(error);
  await answers[1];
  agent.runs[0]?.end();
  await answers[0];
  expect(reports.slice(2)).toEqual([
    ["end", error],
    ["end", undefined],
  ]);
});

function fail(): never {
  throw new Error("thrown");
}
