import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type A2AClient } from "../../src/client/index.ts";
import {
  file,
  formatTaskState,
  getText,
  type JsonObject,
  type Message,
  type SendMessageResponse,
  type Task,
} from "../../src/protocol/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { findActsScenario } from "./acts.ts";
import { createActsAuthentication, describeActsAgent } from "./acts-conventions.ts";
import { createSutAgent } from "./sut-agent.ts";

describe("the agent under test", () => {
  let server: Server;
  let remote: A2AClient;

  beforeAll(async () => {
    server = createServer(
      { sut: createSutAgent({ capabilities: { streaming: true } }) },
      { store: "memory", deduplicateMessages: false },
    );
    remote = await connect((await server.listen()).url);
  });
  afterAll(() => server.close());

  const describeResponse = (answer: SendMessageResponse): string => {
    const { status, artifacts = [] }: Pick<Task, "status" | "artifacts"> =
      "task" in answer ? answer.task : { status: { state: "TASK_STATE_COMPLETED", message: answer.message } };
    const content: Pick<Message, "parts"> | undefined = status.message ?? artifacts[0];
    return `${formatTaskState(status.state)}: ${getText(content?.parts ?? [])}`;
  };

  it.each([
    ["tck-complete-task-0a1b2c3d", "x", "completed: Hello from TCK"],
    ["tck-message-response-0a1b2c3d", "x", "completed: Direct message response"],
    ["tck-stream-artifact-chunked-0a1b2c3d", "x", "completed: chunk-1 chunk-2"],
    ["tck-reject-task-0a1b2c3d", "tck-complete-task", "rejected: rejected"],
    ["m", "tck-task-failure please", "failed: failed, as asked"],
    ["m", "tck-auth-required", "auth-required: Sign in first."],
    ["m", "good day", "completed: good day"],
    ["m", "tck-misspelled", "failed: The scenario is unknown."],
    ["tck-unheard-of", "good day", "completed: good day"],
  ])("plays the scenario of message %s: %s", async (messageId, text, outcome) => {
    expect(describeResponse(await remote.send(text, { messageId }))).toBe(outcome);
  });

  it("continues the scenario that asked", async () => {
    const question = await remote.send("tck-multi-turn");
    const taskId = "task" in question ? question.task.id : "";
    expect(describeResponse(await remote.send("more", { taskId }))).toMatch(/^input-required/);
    expect(describeResponse(await remote.send("done", { taskId }))).toBe("completed: Heard: done");
  });
});

describe("the agent under test, with the conventions of ACTS", () => {
  it("has a scenario for each behavior that it declares", () => {
    const file = new URL("../../acts/sut-behaviors.yaml", import.meta.url);
    const prefixes = [...readFileSync(file, "utf8").matchAll(/prefix: "(.*)"/g)].map(
      ([, prefix = ""]) => prefix,
    );
    expect(prefixes.length).toBeGreaterThan(15);
    const unknown = findActsScenario("tck-misspelled");
    expect(prefixes.filter((prefix) => findActsScenario(`${prefix} text`) === unknown)).toEqual([]);
  });

  const servers: Server[] = [];
  const start = async (requiresAuth: boolean): Promise<string> => {
    const agent = createSutAgent({
      capabilities: { streaming: true, extendedAgentCard: true },
      ...describeActsAgent(requiresAuth),
    });
    const authenticate = createActsAuthentication(requiresAuth);
    const server = createServer({ sut: agent }, { store: "memory", authenticate });
    servers.push(server);
    return `${(await server.listen()).url}/a2a/sut`;
  };
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  const request = async (url: string, token?: string): Promise<number> => {
    const headers = { "A2A-Version": "1.0", ...(token ? { authorization: `Bearer ${token}` } : {}) };
    return (await fetch(url, { headers })).status;
  };

  it("guards the extended card, and accepts other requests without credentials", async () => {
    const url = await start(false);
    const card = `${url}/extendedAgentCard`;
    expect(await request(card)).toBe(401);
    expect(await request(card, "unknown")).toBe(401);
    expect(await request(card, "itk-insufficient-token")).toBe(403);
    expect(await request(card, "itk-valid-token")).toBe(200);
    expect(await request(`${url}/tasks`)).toBe(200);
  });

  it("requires credentials for every operation, and declares the requirement", async () => {
    const url = await start(true);
    const card = (await (await fetch(`${new URL(url).origin}/.well-known/agent-card.json`)).json()) as object;
    expect(card).toHaveProperty("securityRequirements");
    expect(await request(`${url}/tasks`)).toBe(401);
    expect(await request(`${url}/tasks`, "itk-insufficient-token")).toBe(403);
    expect(await request(`${url}/tasks`, "itk-other-token")).toBe(200);
  });

  it("rejects media types that the card does not declare, and accepts instructions of the ITK", async () => {
    const remote = await connect(await start(false));
    const send = (mediaType: string): Promise<SendMessageResponse> =>
      remote.send([file(encodeInstruction.answer("here"), { mediaType, filename: "instruction.bin" })]);
    await expect(send("application/x-unsupported")).rejects.toMatchObject({
      reason: "CONTENT_TYPE_NOT_SUPPORTED",
    });
    expect(
      getText(((await send("application/x-protobuf")) as { task: Task }).task.status.message?.parts ?? []),
    ).toBe("here");
  });

  it.each<[string, object, object]>([
    [
      "send_message",
      {
        jsonrpc: "2.0",
        id: "x",
        result: { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ raw: "AQ==" }] } },
      },
      { message: { messageId: "m", parts: [{ raw: "AQ==" }] } },
    ],
    [
      "get_task",
      { jsonrpc: "2.0", id: "x", error: { code: -32001, message: "Task not found" } },
      { error: { message: "Task not found" } },
    ],
    [
      "get_extended_agent_card",
      {
        name: "extended",
        description: "",
        version: "1",
        capabilities: {},
        defaultInputModes: [],
        defaultOutputModes: [],
        skills: [],
        supportedInterfaces: [
          { url: "https://example.com/a2a", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
        ],
      },
      { name: "extended" },
    ],
  ])("returns what our client reads from a payload: %s", async (operation, payload, parsed) => {
    const remote = await connect(await start(false));
    const answer = await remote.send([
      { text: "tck-client-parse" },
      { data: { operation, wire_payload: payload } as unknown as JsonObject },
    ]);
    expect((answer as { task: Task }).task.artifacts?.[0]?.parts[0]).toMatchObject({ data: parsed });
  });
});

const { LengthDelimited, Varint } = WireType;

/** Encodes instructions as the ITK does. */
const encodeInstruction = {
  answer: (response: string, hold = false) =>
    encodeProtobuf((to) =>
      to
        .tag(2, LengthDelimited)
        .bytes(encodeProtobuf((of) => of.tag(1, LengthDelimited).string(response).tag(2, Varint).bool(hold))),
    ),
  call: (
    cardUri: string,
    transport: string,
    instruction: Uint8Array,
    { streaming = false, resubscribe = false, pushTo = "" } = {},
  ) =>
    encodeProtobuf((to) =>
      to.tag(1, LengthDelimited).bytes(
        encodeProtobuf((of) => {
          of.tag(1, LengthDelimited)
            .string(transport)
            .tag(2, LengthDelimited)
            .string(cardUri)
            .tag(3, LengthDelimited)
            .bytes(instruction);
          of.tag(4, Varint).bool(streaming);
          if (pushTo)
            of.tag(6, LengthDelimited).bytes(
              encodeProtobuf((push) => push.tag(1, LengthDelimited).string(pushTo)),
            );
          if (resubscribe) of.tag(7, LengthDelimited).bytes(new Uint8Array());
        }),
      ),
    ),
  series: (...steps: Uint8Array[]) =>
    encodeProtobuf((to) =>
      to.tag(3, LengthDelimited).bytes(
        encodeProtobuf((of) => {
          for (const step of steps) of.tag(1, LengthDelimited).bytes(step);
          of.tag(2, Varint).int32(1);
        }),
      ),
    ),
};

function encodeProtobuf(write: (to: BinaryWriter) => void): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  write(writer);
  return writer.finish();
}

describe("the agent under test, with instructions of the ITK", () => {
  const servers: Server[] = [];
  let first = "";
  let old = "";

  beforeAll(async () => {
    const agent = createSutAgent({ capabilities: { streaming: true, pushNotifications: true } });
    for (const versions of [["1.0", "0.3"], ["0.3"]] as const) {
      const server = createServer(
        { sut: agent },
        { store: "memory", inputModePolicy: "ignore", versions, push: { allowPrivate: true } },
      );
      servers.push(server);
      const { url } = await server.listen({ grpc: true });
      if (first === "") first = url;
      else old = url;
    }
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  async function told(instruction: Uint8Array): Promise<string> {
    const remote = await connect(first);
    const part = file(instruction, { mediaType: "application/x-protobuf", filename: "instruction.bin" });
    const { task } = (await remote.send([part])) as { task: Task };
    return `${formatTaskState(task.status.state)}: ${getText(task.status.message?.parts ?? [])}`;
  }

  describe.each(["JSONRPC", "HTTP+JSON", "GRPC"])("goes over %s", (transport) => {
    it.each([true, false])(
      "from agent to agent, of either version, and back (streaming: %j)",
      async (streaming) => {
        const callOld = encodeInstruction.call(old, transport, encodeInstruction.answer("of 0.3"), {
          streaming,
        });
        const both = encodeInstruction.series(encodeInstruction.answer("here"), callOld);
        const trip = encodeInstruction.call(first, transport, both, { streaming });
        expect(await told(encodeInstruction.series(trip, encodeInstruction.answer("home")))).toBe(
          "completed: here\nof 0.3\nhome",
        );
      },
    );

    it.each([() => first, () => old])("and resubscribes to a task (%#)", async (whom) => {
      const held = encodeInstruction.answer("held", true);
      const call = encodeInstruction.call(whom(), transport, held, { streaming: true, resubscribe: true });
      expect((await told(call)).trim()).toBe("completed: held");
    });
  });

  it("receives push notifications", async () => {
    const notifications: { token: unknown; body: string }[] = [];
    const inbox = createHttpServer((incoming, response) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
      incoming.on("end", () => {
        notifications.push({ token: incoming.headers["x-a2a-notification-token"], body });
        response.end();
      });
    }).listen(0, "127.0.0.1");
    await once(inbox, "listening");
    const pushTo = `127.0.0.1:${(inbox.address() as AddressInfo).port}`;
    expect(
      await told(encodeInstruction.call(first, "JSONRPC", encodeInstruction.answer("x"), { pushTo })),
    ).toBe("completed: x");
    await expect.poll(() => notifications.at(-1)?.body).toContain("TASK_STATE_COMPLETED");
    expect(notifications.every(({ token }) => token === "itk-token")).toBe(true);
    inbox.close();
  });

  it("accepts instructions as base64 text, and treats other text as messages", async () => {
    const remote = await connect(first);
    const spoken = async (text: string): Promise<string> => {
      const { task } = (await remote.send(text)) as { task: Task };
      return getText(task.status.message?.parts ?? task.artifacts?.[0]?.parts ?? []);
    };
    expect(await spoken(Buffer.from(encodeInstruction.answer("by text")).toString("base64"))).toBe("by text");
    expect(await spoken("done")).toBe("done");
  });
});
