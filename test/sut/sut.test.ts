import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Remote } from "../../src/client/index.ts";
import {
  stateName,
  textOf,
  type Message,
  type SendMessageResponse,
  type Task,
} from "../../src/protocol/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { sutAgent } from "./agent.ts";

describe("the agent under test", () => {
  let server: Server;
  let remote: Remote;

  beforeAll(async () => {
    server = createServer(
      { sut: sutAgent({ capabilities: { streaming: true } }) },
      { store: "memory", deduplicate: false },
    );
    remote = await connect((await server.listen()).url);
  });
  afterAll(() => server.close());

  const told = (answer: SendMessageResponse): string => {
    const { status, artifacts = [] }: Pick<Task, "status" | "artifacts"> =
      "task" in answer ? answer.task : { status: { state: "TASK_STATE_COMPLETED", message: answer.message } };
    const said: Pick<Message, "parts"> | undefined = status.message ?? artifacts[0];
    return `${stateName(status.state)}: ${textOf(said?.parts ?? [])}`;
  };

  it.each([
    ["tck-complete-task-0a1b2c3d", "x", "completed: Hello from TCK"],
    ["tck-message-response-0a1b2c3d", "x", "completed: Direct message response"],
    ["tck-stream-artifact-chunked-0a1b2c3d", "x", "completed: chunk-1 chunk-2"],
    ["tck-reject-task-0a1b2c3d", "tck-complete-task", "rejected: rejected"],
    ["m", "tck-task-failure please", "failed: failed, as asked"],
    ["m", "tck-auth-required", "auth-required: Sign in first."],
    ["m", "good day", "completed: good day"],
    ["tck-unheard-of", "good day", "completed: good day"],
  ])("plays what message %s says: %s", async (messageId, text, outcome) => {
    expect(told(await remote.send(text, { messageId }))).toBe(outcome);
  });

  it("goes on with the scenario that asked", async () => {
    const asked = await remote.send("tck-multi-turn");
    const taskId = "task" in asked ? asked.task.id : "";
    expect(told(await remote.send("more", { taskId }))).toMatch(/^input-required/);
    expect(told(await remote.send("done", { taskId }))).toBe("completed: Heard: done");
  });
});
