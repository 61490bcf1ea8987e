import { expect, it, onTestFinished } from "vitest";
import { connect } from "../client/index.ts";
import { callAgent } from "./call-agent.ts";
import { serveScriptedAgent } from "./scripted-agent.fixture.ts";

it.each([[true], [false]])(
  "a call that is given up before its task is known cancels the task all the same (streaming: %s)",
  async (streaming) => {
    const parrot = await serveScriptedAgent(streaming);
    onTestFinished(() => parrot.close());
    const remote = await connect(parrot.url);
    const stop = new AbortController();
    const said = { parts: [{ text: "wait" }] };
    const answer = callAgent(remote, said, { signal: stop.signal, onEvent: () => {} });
    // Nothing can have come back yet.
    stop.abort();
    // The task as it ended, or nothing: nobody is told either.
    await Promise.allSettled([answer]);
    expect(parrot.stateRecorder.states.at(-1)).toBe("TASK_STATE_CANCELED");
  },
);

it("a call that was given up before it began sends nothing", async () => {
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

it("waiting for a task that others have begun ends with it", async () => {
  const parrot = await serveScriptedAgent();
  onTestFinished(() => parrot.close());
  const remote = await connect(parrot.url);
  const begun = await remote.send("work", { configuration: { returnImmediately: true } });
  if (!("task" in begun)) throw new Error("no task");
  const signal = new AbortController().signal;
  const answer = callAgent(
    remote,
    { parts: [], taskId: begun.task.id },
    { signal, onEvent: () => parrot.finishWork() },
  );
  expect(await answer).toMatchObject({
    task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "one two three" }] }] },
  });
});
