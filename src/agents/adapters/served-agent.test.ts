import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { collect, connect, type A2AClient } from "../../client/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { getText, type StreamResponse, type Task } from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { agent, artifact, command, data, file, inputRequired, reply, status } from "./index.ts";

const servers: Server[] = [];
const agentDescription = { name: "test", description: "For tests" };

/** Starts a real server for the agent. */
async function connectToAgent(served: Agent, observer?: Observer): Promise<A2AClient> {
  const server = createServer(served, { store: "memory", ...(observer ? { observer } : {}) });
  servers.push(server);
  return connect((await server.listen()).url);
}

async function requireTask(answer: Promise<{ task: Task } | object>): Promise<Task> {
  const response = await answer;
  if (!("task" in response)) throw new Error("There is no task.");
  return response.task;
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

describe("a generator on a server", () => {
  it("streams its output, and the stored task is equal", async () => {
    const remote = await connectToAgent(
      agent(agentDescription, async function* ({ text }) {
        yield status("Looking…");
        for (const word of ["You ", "said ", text]) yield word;
        yield artifact(
          { name: "picture" },
          file(new Uint8Array([1, 2]), { mediaType: "image/png" }),
          data([1]),
        );
      }),
    );
    const { id, status: end, artifacts } = await requireTask(collect(remote.stream("hi")));
    expect(end.state).toBe("TASK_STATE_COMPLETED");
    expect(artifacts).toEqual([
      { artifactId: "answer", parts: [{ text: "You said hi" }] },
      {
        artifactId: "picture",
        name: "picture",
        parts: [{ raw: "AQI=", mediaType: "image/png" }, { data: [1] }],
      },
    ]);
    expect((await remote.tasks.get(id)).artifacts).toEqual(artifacts);
  });

  it("whose question lacks yield completes the task, and the log contains the remedy", async () => {
    const warnings: unknown[] = [];
    const forgetful = agent(agentDescription, async function* ({ text }) {
      if (text === "answer") yield text;
      inputRequired("Which city?");
    });
    const remote = await connectToAgent(forgetful, { onWarning: (seen) => warnings.push(seen) });
    const { id, status: end } = await requireTask(remote.send("ask"));
    expect(end.state).toBe("TASK_STATE_COMPLETED");
    const message = expect.stringContaining("Write yield inputRequired(…).") as unknown;
    expect(warnings).toEqual([{ where: "agent", taskId: id, message }]);
    await remote.send("answer");
    expect(warnings).toHaveLength(1);
  });

  it("sends a chunk while the generator waits for the next one", async () => {
    const gate = Promise.withResolvers<void>();
    const remote = await connectToAgent(
      agent(agentDescription, async function* () {
        yield "first ";
        await gate.promise;
        yield "second";
      }),
    );
    const chunks: unknown[] = [];
    let last: StreamResponse | undefined;
    for await (const event of remote.stream("go")) {
      last = event;
      if (!("artifactUpdate" in event)) continue;
      const { artifact, append, lastChunk } = event.artifactUpdate;
      chunks.push([getText(artifact.parts), append ?? false, lastChunk ?? false]);
      gate.resolve();
    }
    expect(chunks).toEqual([
      ["first ", false, false],
      ["first second", false, true],
    ]);
    expect(last).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("asks a question and continues with the answer, with one artifact for each turn", async () => {
    const remote = await connectToAgent(
      agent(agentDescription, async function* ({ text, history }) {
        if (history.length === 1) {
          yield "Let me see. ";
          yield inputRequired("Which city?");
        }
        yield `The weather in ${text}.`;
      }),
    );
    const asked = await requireTask(remote.send("weather"));
    expect(asked.status).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      message: { parts: [{ text: "Which city?" }] },
    });
    const reported = await requireTask(remote.send("Seoul", { taskId: asked.id }));
    expect(reported.artifacts).toEqual([
      { artifactId: "answer", parts: [{ text: "Let me see. " }] },
      { artifactId: "answer-2", parts: [{ text: "The weather in Seoul." }] },
    ]);
  });

  it("answers without a task if it may", async () => {
    const remote = await connectToAgent(
      agent(
        agentDescription,
        async function* () {
          yield reply("Hello.");
        },
        { respondsWith: "either" },
      ),
    );
    expect(await remote.send("hi")).toMatchObject({
      message: { role: "ROLE_AGENT", parts: [{ text: "Hello." }] },
    });
  });

  it("receives a cancellation through its signal", async () => {
    const received = Promise.withResolvers<void>();
    const remote = await connectToAgent(
      agent(agentDescription, async function* ({ signal }) {
        yield "working";
        await once(signal, "abort");
        received.resolve();
      }),
    );
    const { id } = await requireTask(remote.send("go", { configuration: { returnImmediately: true } }));
    expect((await remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    await received.promise;
  });
});

describe("a command on a server", () => {
  it("answers with its output", async () => {
    const remote = await connectToAgent(command("tr a-z A-Z"));
    expect((await requireTask(remote.send("quiet"))).artifacts).toEqual([
      { artifactId: "answer", parts: [{ text: "QUIET" }] },
    ]);
  });

  it("fails the task with its exit code, and only the observer receives its error output", async () => {
    const errors: unknown[] = [];
    const remote = await connectToAgent(command("echo so far; echo no good >&2; exit 4", { shell: true }), {
      onError: ({ error }) => void errors.push(error),
    });
    const { status, artifacts } = await requireTask(remote.send("x"));
    expect(status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: { parts: [{ text: "shell exited with code 4." }] },
    });
    expect(errors).toMatchObject([{ cause: { message: "The command wrote to stderr: no good" } }]);
    expect(artifacts?.[0]?.parts).toEqual([{ text: "so far\n" }]);
  });

  it("is stopped with its task", async () => {
    const remote = await connectToAgent(command("echo $$; sleep 1000", { shell: true }));
    const events = remote.stream("go");
    let id = "";
    let pid = 0;
    for await (const event of events) {
      if ("task" in event) id = event.task.id;
      if (!("artifactUpdate" in event)) continue;
      pid = Number(getText(event.artifactUpdate.artifact.parts));
      break;
    }
    process.kill(pid, 0);
    expect((await remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});
