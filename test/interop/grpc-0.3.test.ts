/** Tests the official JavaScript client of A2A 0.3 against our server over gRPC. */
import { ClientFactory, type Client } from "a2a-js-sdk-0.3/client";
import { GrpcTransportFactory } from "a2a-js-sdk-0.3/client/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, inputRequired } from "../../src/agents/adapters/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { createTextRequest, listArtifactTexts, requireTask } from "./sdk-0.3-client.ts";

const textDrivenAgent = agent(
  { name: "actor", description: "Does what the text says" },
  async function* ({ text, history }) {
    if (text === "ask") yield inputRequired("Which city?");
    else if (text === "stream") yield* ["Once ", "upon ", "a ", "time"];
    else yield `heard ${history.length}`;
  },
);

describe("the client of @a2a-js/sdk 0.3, over gRPC", () => {
  let server: Server;
  let client: Client;

  beforeAll(async () => {
    server = createServer({ actor: textDrivenAgent }, { store: "memory" });
    const { url } = await server.listen({ grpc: true });
    const factory = new ClientFactory({
      transports: [new GrpcTransportFactory()],
      preferredTransports: ["GRPC"],
    });
    client = await factory.createFromUrl(url);
  });
  afterAll(() => server.close());

  it("sends a message and gets the completed task [F-01, F-02]", async () => {
    const task = requireTask(await client.sendMessage(createTextRequest("hello")));
    expect(task.status.state).toBe("completed");
    expect(listArtifactTexts(task)).toEqual(["heard 1"]);
  });

  it("streams a message and gets every chunk, in order, once [G-01, G-02, G-03]", async () => {
    const events: string[] = [];
    let last: unknown;
    for await (const event of client.sendMessageStream(createTextRequest("stream"))) {
      if (event.kind === "artifact-update") {
        for (const part of event.artifact.parts) if (part.kind === "text") events.push(part.text);
      }
      last = event;
    }
    expect(events.join("")).toBe("Once upon a time");
    expect(last).toMatchObject({ kind: "status-update", final: true, status: { state: "completed" } });
  });

  it("answers a question within the task, gets it, and can not cancel it [F-06, F-30, F-41]", async () => {
    const question = requireTask(await client.sendMessage(createTextRequest("ask")));
    expect(question.status.state).toBe("input-required");
    const done = requireTask(await client.sendMessage(createTextRequest("Paris", { taskId: question.id })));
    expect(done).toMatchObject({
      id: question.id,
      contextId: question.contextId,
      status: { state: "completed" },
    });
    expect(listArtifactTexts(await client.getTask({ id: question.id }))).toEqual(["heard 3"]);
    await expect(client.cancelTask({ id: question.id })).rejects.toThrow(/no longer be canceled/);
    await expect(client.getTask({ id: "none" })).rejects.toThrow(/not found/);
  });
});
