import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../client/index.ts";
import { callAgent } from "./call-agent.ts";
import { serveScriptedAgent } from "./scripted-agent.fixture.ts";

it.each([[true], [false]])(
  "a call that is aborted before its task id is known still cancels the task (streaming: %s)",
  async (streaming) => {
    const parrot = await serveScriptedAgent(streaming);
    onTestFinished(() => parrot.close());
    const remote = await connect(parrot.url);
    const stop = new AbortController();
    const request = { parts: [{ text: "wait" }] };
    const answer = callAgent(remote, request, { signal: stop.signal, onEvent: () => {} });
    // No response can have arrived yet.
    stop.abort();
    // The result of the aborted call is not relevant here.
    await Promise.allSettled([answer]);
    expect(parrot.stateRecorder.states.at(-1)).toBe("TASK_STATE_CANCELED");
  },
);

it("a call that was aborted before it started sends nothing", async () => {
  const parrot = await serveScriptedAgent();
  onTestFinished(() => parrot.close());
  const remote = await connect(parrot.url);
  const answer = callAgent(
    remote,
    { parts: [{ text: "hello" }] },
    { signal: AbortSignal.abort(), onEvent: () => {} },
  );
  await expect(answer).rejects.toThrow();
  expect(parrot.stateRecorder.states).toEqual([]);
});

it("waiting for an existing task ends when the task ends", async () => {
  const parrot = await serveScriptedAgent();
  onTestFinished(() => parrot.close());
  const remote = await connect(parrot.url);
  const started = await remote.send("work", { configuration: { returnImmediately: true } });
  if (!("task" in started)) throw new Error("no task");
  const signal = new AbortController().signal;
  const answer = callAgent(
    remote,
    { parts: [], taskId: started.task.id },
    { signal, onEvent: () => parrot.finishWork() },
  );
  expect(await answer).toMatchObject({
    task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "one two three" }] }] },
  });
});
