import { describe, expect, it } from "vitest";
import {
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  createCardProtocol,
  findCardInMessage,
  generateFlowDiagram,
  PLANNER,
  SOLVER,
  toDict,
  isTraceparent,
} from "../../index.ts";
import { createController } from "../controller.ts";
import {
  EXPECTED_FLOW_DIAGRAM,
  SCRIPTED_INCEPTION_DIALOGUE,
  JANET_DIALOGUE,
  InMemoryTestCardRecorder,
  createScriptedPlanner,
  createScriptedSolver,
} from "./planner-solver-dialogue.fixture.ts";
import {
  forwardingTestPlanner,
  startRoleTestbed,
  createTestRoleFromFunction,
} from "./role-testbed.fixture.ts";

const task = createCardProtocol().createTaskCard({
  from: PLANNER,
  to: SOLVER,
  task: JANET_DIALOGUE.steps[0]?.subtask ?? "",
  metadata: { card_id: "c1", run_id: "r1" },
});

async function postJsonRpc(
  url: string,
  headers: Record<string, string>,
  method: string,
  params: object,
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return await response.json();
}

describe.each([
  ["1.0", "JSONRPC"],
  ["1.0", "HTTP+JSON"],
  ["0.3", "JSONRPC"],
  ["0.3", "HTTP+JSON"],
] as const)("cards in A2A %s over %s", (version, binding) => {
  it("are the same six cards with the same relays", async () => {
    const connect = { version, binding, allowOlderVersion: true };
    const { urls } = await startRoleTestbed(
      {
        planner: createScriptedPlanner(SCRIPTED_INCEPTION_DIALOGUE),
        solver: createScriptedSolver(SCRIPTED_INCEPTION_DIALOGUE),
      },
      { connectOptions: connect },
    );
    const recorder = new InMemoryTestCardRecorder();
    const controller = createController({ roleTargets: urls, connectOptions: connect, recorder });
    const { cards, reply } = await controller.solve({
      task: SCRIPTED_INCEPTION_DIALOGUE.task,
      relay: "full",
      runId: "r",
    });
    expect(generateFlowDiagram(cards)).toBe(EXPECTED_FLOW_DIAGRAM);
    expect(reply.content).toBe(SCRIPTED_INCEPTION_DIALOGUE.answer);
    expect(recorder.cards.every(({ run_id }) => run_id === "r")).toBe(true);
  });
});

describe("a card on the wire", () => {
  it("is a data part with a media type and a text part in 1.0", async () => {
    const { urls } = await startRoleTestbed({ solver: createScriptedSolver(JANET_DIALOGUE) });
    const answer = await postJsonRpc(
      urls[SOLVER] ?? "",
      { "a2a-version": "1.0", "a2a-extensions": MESSAGE_CARD_EXTENSION_URI },
      "SendMessage",
      {
        message: {
          messageId: "c1",
          role: "ROLE_USER",
          parts: [
            {
              data: toDict(task),
              mediaType: MESSAGE_CARD_MEDIA_TYPE,
              metadata: { [`${MESSAGE_CARD_EXTENSION_URI}/type`]: "task" },
            },
          ],
        },
      },
    );
    expect(answer).toMatchObject({
      result: {
        task: {
          status: { state: "TASK_STATE_COMPLETED" },
          artifacts: [
            {
              name: "result-card",
              extensions: [MESSAGE_CARD_EXTENSION_URI],
              parts: [
                {
                  data: { sender: SOLVER, recipient: PLANNER, message_type: "result", content: "9" },
                  mediaType: MESSAGE_CARD_MEDIA_TYPE,
                  metadata: { [`${MESSAGE_CARD_EXTENSION_URI}/type`]: "result" },
                },
                { text: "9", mediaType: "text/plain" },
              ],
            },
          ],
        },
      },
    });
  });

  it("is a data part with metadata in 0.3", async () => {
    const { urls } = await startRoleTestbed({ solver: createScriptedSolver(JANET_DIALOGUE) });
    const answer = (await postJsonRpc(
      urls[SOLVER] ?? "",
      { "x-a2a-extensions": MESSAGE_CARD_EXTENSION_URI },
      "message/send",
      {
        message: {
          kind: "message",
          messageId: "c1",
          role: "user",
          parts: [
            {
              kind: "data",
              data: toDict(task),
              metadata: { [`${MESSAGE_CARD_EXTENSION_URI}/type`]: "task" },
            },
          ],
        },
      },
    )) as { result: { artifacts: { parts: object[] }[] } };
    expect(answer).toMatchObject({ result: { kind: "task", status: { state: "completed" } } });
    const [data, text] = answer.result.artifacts[0]?.parts ?? [];
    expect(data).toMatchObject({
      kind: "data",
      data: { sender: SOLVER, content: "9", metadata: { in_reply_to: "c1", run_id: "r1" } },
      metadata: { [`${MESSAGE_CARD_EXTENSION_URI}/type`]: "result" },
    });
    expect(text).toMatchObject({ kind: "text", text: "9" });
  });

  it("counts once when it is sent repeatedly [E10]", async () => {
    let worked = 0;
    const solver = createTestRoleFromFunction(SOLVER, async () => ({
      result: String(++worked),
      status: "success",
    }));
    const { getClient } = await startRoleTestbed({ solver });
    const agent = await getClient(SOLVER);
    const parts = [{ data: toDict(task), mediaType: MESSAGE_CARD_MEDIA_TYPE }];
    const [one, two] = [
      await agent.send(parts, { messageId: "c1" }),
      await agent.send(parts, { messageId: "c1" }),
    ];
    expect(two).toEqual(one);
    expect(worked).toBe(1);
  });
});

describe("a trace", () => {
  it("passes through all roles with one span per hop, outside the cards", async () => {
    const headers: (string | null)[] = [];
    const spying: typeof fetch = (input, init) => {
      headers.push(new Headers(init?.headers).get("traceparent"));
      return fetch(input, init);
    };
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const { urls, recorder } = await startRoleTestbed(
      { planner: forwardingTestPlanner, solver: createScriptedSolver(JANET_DIALOGUE) },
      { connectOptions: { fetch: spying } },
    );
    const controller = createController({
      roleTargets: urls,
      connectOptions: { fetch: spying },
      recorder,
    });
    const { cards } = await controller.solve({
      task: JANET_DIALOGUE.steps[0]?.subtask ?? "",
      relay: "full",
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
    });
    const carried = headers.filter(isTraceparent);
    expect(carried).toHaveLength(2);
    expect(carried.every((header) => header.startsWith(`00-${trace}-`) && header.endsWith("-01"))).toBe(true);
    expect(new Set(carried).size).toBe(2);
    expect(JSON.stringify(cards)).not.toContain(trace);
    // The receiver records the same card as the sender.
    const of = (at: string, dir: string): unknown =>
      recorder.cards.find((seen) => seen.at_role === at && seen.dir === dir)?.a2a?.traceparent;
    expect(of(SOLVER, "in")).toBe(of(PLANNER, "out"));
    expect(of(PLANNER, "in")).toBe(of("controller", "out"));
  });
});

describe("a trace of a client without card support", () => {
  it("is read from the header and continued", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const { urls, recorder } = await startRoleTestbed({
      planner: forwardingTestPlanner,
      solver: createScriptedSolver(JANET_DIALOGUE),
    });
    const traceparent = `00-${trace}-b7ad6b7169203331-01`;
    await postJsonRpc(urls[PLANNER] ?? "", { "a2a-version": "1.0", traceparent }, "SendMessage", {
      message: { messageId: "m", role: "ROLE_USER", parts: [{ text: JANET_DIALOGUE.steps[0]?.subtask }] },
    });
    const [given, , solvers] = recorder.cards;
    expect(given?.a2a?.traceparent).toBe(traceparent);
    expect(solvers).toMatchObject({ at_role: SOLVER, dir: "in" });
    expect(solvers?.a2a?.traceparent).toMatch(
      new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`),
    );
  });
});

describe("a relay", () => {
  const nested = createCardProtocol({
    roles: ["validator"],
    routes: [
      { from: SOLVER, to: "validator", types: ["task"] },
      { from: "validator", to: SOLVER, types: ["result"] },
    ],
  });
  const solver = createTestRoleFromFunction(SOLVER, async (taskContext) => {
    const { content } = await taskContext.delegate({ to: "validator", task: "Is 4 right?" });
    return { result: `4 (${content})`, status: "success" };
  });
  const validator = createTestRoleFromFunction("validator", async () => ({
    result: "yes",
    status: "success",
  }));

  it("passes through all roles and delivers each card once in order", async () => {
    const { controller, recorder, listTasks } = await startRoleTestbed(
      { planner: forwardingTestPlanner, solver, validator },
      { protocol: nested },
    );
    const live: string[] = [];
    const { cards } = await controller.solve({
      task: "2 + 2",
      relay: "full",
      onCard: ({ sender, message_type }) => live.push(`${sender} ${message_type}`),
    });
    expect(live).toEqual([
      "controller task",
      "planner task",
      "solver task",
      "validator result",
      "solver result",
      "planner result",
    ]);
    expect(cards.map(({ metadata }) => metadata.card_id)).toEqual(
      recorder.uniqueCards.map(({ metadata }) => metadata.card_id),
    );
    // The task contains every card of the problem.
    const [done] = await listTasks(PLANNER);
    const told = done?.history?.flatMap(
      ({ parts }) => findCardInMessage({ parts: parts })?.message_type ?? [],
    );
    expect(told).toEqual(["task", "task", "task", "result", "result"]);
  });

  it("is sent only on request", async () => {
    const { controller, recorder } = await startRoleTestbed(
      { planner: forwardingTestPlanner, solver, validator },
      { protocol: nested },
    );
    const { cards } = await controller.solve({ task: "2 + 2" });
    expect(cards.map(({ message_type }) => message_type)).toEqual(["task", "result"]);
    expect(recorder.cardRecordLines.filter((line) => line.includes("relayed"))).toEqual([]);
  });
});
