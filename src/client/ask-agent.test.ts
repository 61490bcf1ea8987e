import { onTestFinished, describe, expect, it } from "vitest";
import { agent, authRequired, failed, inputRequired, status } from "../agents/adapters/index.ts";
import { createServer } from "../server/index.ts";
import { connect, type A2AClient, type ConnectOptions } from "./index.ts";

const guide = agent(
  { name: "guide", description: "Does what the text says" },
  async function* ({ text, history, signal }) {
    if (text === "greet") yield* ["Hello, ", "Ada!"];
    else if (text === "think")
      yield* [
        { artifact: { artifactId: "r", parts: [{ text: "Hm." }], metadata: { thought: true } } },
        // The proto of 0.3 has no metadata of parts.
        { artifact: { artifactId: "a", parts: [{ text: "18" }] } },
      ];
    else if (text === "ask") {
      yield "Some cities are far away.";
      yield inputRequired("Which city?");
    } else if (text === "sign in") yield authRequired("Sign in first.");
    else if (text === "fail") yield failed("no credit");
    else if (text === "throw") throw new Error("secret");
    else if (text === "wait") {
      yield status("Waiting");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } else yield `Answer ${(history.length + 1) / 2}: ${text}`;
  },
  { artifacts: "pieces" },
);
const greeter = agent(
  { name: "greeter", description: "Answers without a task" },
  async function* () {
    yield { message: { parts: [{ text: "Hi!" }] } };
  },
  { respondsWith: "either" },
);
const slow = agent(
  { name: "slow", description: "Does not stream", capabilities: { streaming: false } },
  async function* ({ text }) {
    yield `slow ${text}`;
  },
);

async function connectTo(id: string, options: ConnectOptions): Promise<A2AClient> {
  const server = createServer({ guide, greeter, slow }, { store: "memory", observer: false });
  onTestFinished(() => server.close());
  const { agents } = await server.listen({ grpc: true });
  return await connect(agents.find((one) => one.id === id)?.url ?? "", options);
}

const VARIANTS = (["1.0", "0.3"] as const).flatMap((version) =>
  (["JSONRPC", "HTTP+JSON", "GRPC"] as const).map((binding) => ({ binding, version })),
);

describe.each(VARIANTS)("ask, over $binding of $version", (variant) => {
  it("resolves with the text and the task", async () => {
    const remote = await connectTo("guide", variant);
    const { text, task } = await remote.ask("greet");
    expect([text, task?.status.state]).toEqual(["Hello, Ada!", "TASK_STATE_COMPLETED"]);
  });

  it("resolves without the reasoning of a model", async () => {
    const remote = await connectTo("guide", variant);
    expect((await remote.ask("think")).text).toBe("18");
  });

  it("resolves with the agent's question, and continues the task with the answer only", async () => {
    const remote = await connectTo("guide", variant);
    const { text, task } = await remote.ask("ask");
    expect([text, task?.status.state]).toEqual([
      "Some cities are far away.\nWhich city?",
      "TASK_STATE_INPUT_REQUIRED",
    ]);
    const answer = await remote.ask("Paris", { taskId: task?.id ?? "" });
    expect([answer.text, answer.task?.id]).toEqual(["Answer 2: Paris", task?.id]);
  });

  it("resolves if the agent requires authentication, although the stream stays open", async () => {
    const { text, task } = await (await connectTo("guide", variant)).ask("sign in");
    expect([text, task?.status.state]).toEqual(["Sign in first.", "TASK_STATE_AUTH_REQUIRED"]);
  });

  it("rejects with the reason and the task if the task fails", async () => {
    const remote = await connectTo("guide", variant);
    await expect(remote.ask("fail")).rejects.toMatchObject({
      name: "TaskNotCompletedError",
      message: expect.stringMatching(/^The agent ended task \S+ as failed: no credit$/) as unknown,
      task: { status: { state: "TASK_STATE_FAILED" } },
    });
    await expect(remote.ask("throw")).rejects.not.toThrow("secret");
  });
});

describe("ask", () => {
  it("resolves without a task if the agent answers with a message", async () => {
    expect(await (await connectTo("greeter", {})).ask("x")).toEqual({ text: "Hi!" });
  });

  it("works with an agent that does not stream", async () => {
    expect((await (await connectTo("slow", {})).ask("x")).text).toBe("slow x");
  });

  it("cancels the task if the signal aborts", async () => {
    const remote = await connectTo("guide", {});
    const abort = new AbortController();
    const asked = remote.ask("wait", { signal: abort.signal });
    await expect.poll(async () => (await remote.tasks.list()).tasks[0]?.status.message).toBeDefined();
    abort.abort(new Error("no more"));
    await expect(asked).rejects.toThrow("no more");
    const { tasks } = await remote.tasks.list();
    expect(tasks.map(({ status: { state } }) => state)).toEqual(["TASK_STATE_CANCELED"]);
  });
});
