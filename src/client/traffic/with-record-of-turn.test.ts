import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { installTraceScopeStorage, runInTraceScope, type TraceScope } from "../../observe/telemetry/index.ts";
import type { Transport } from "../transport/transport.ts";
import { withRecordOfTurn } from "./with-record-of-turn.ts";

it("a record of a turn that cannot start does not affect the calls of the agent", async () => {
  installTraceScopeStorage(() => new AsyncLocalStorage<TraceScope>());
  let startCount = 0;
  const transport = { version: "1.0", call: () => Promise.resolve("answer") } as unknown as Transport;
  const recorded = withRecordOfTurn(transport, () => {
    startCount++;
    return Promise.reject(new Error("no module"));
  });
  const scope = { task: { taskId: "t", agent: "a", record: {} } } as unknown as TraceScope;
  const call = (): Promise<unknown> => recorded.call("GetTask", {} as never, {});
  expect([await runInTraceScope(scope, call), await runInTraceScope(scope, call)]).toEqual([
    "answer",
    "answer",
  ]);
  expect(startCount).toBe(1);
});
