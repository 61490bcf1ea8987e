import { FunctionTool, LlmAgent, Workflow, type Context } from "@google/adk";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTempFolder } from "../../../test/support/store-factories.ts";
import { runThroughRestart } from "../adapters/server-restart.fixture.ts";
import type { Agent } from "../../engine/index.ts";
import { getText, type Task } from "../../protocol/index.ts";
import {
  adkAgent,
  durable,
  getRunOfToolContext,
  ScriptedLlm,
  SqliteSessionService,
  type ScriptFunctionInput,
} from "./index.ts";

const getAnswer = ({ artifacts = [] }: Task): string =>
  artifacts.map(({ parts }) => getText(parts)).join("|");

/** Pays with a durable tool, and then waits with another tool, which does not end in the first attempt. */
async function runCashier(wrapRoot: (root: LlmAgent) => LlmAgent | Workflow = (root) => root): Promise<{
  task: Task;
  payments: string[];
  requests: string[];
  contents: string[];
}> {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
  const payments: string[] = [];
  const requests: string[] = [];
  const contents: string[] = [];
  const keys: string[] = [];
  const createAgent = (attempt: number): Agent => {
    const script = ({ results, request }: ScriptFunctionInput) => {
      const [last] = results;
      requests.push(`${attempt} ${last?.name ?? "message"}`);
      if (last?.name === "wait") contents.push(JSON.stringify(request.contents));
      if (!last) return { call: "pay", args: { amount: 5 } };
      if (last.name === "pay") return { call: "wait" };
      return "paid";
    };
    const pay = new FunctionTool({
      name: "pay",
      description: "Pays",
      execute: (_args: unknown, context?: Context) => {
        keys.push(getRunOfToolContext(context as Context).idempotencyKey);
        payments.push(`attempt ${attempt}`);
        context?.state.set("paid", true);
        return { receipt: payments.length };
      },
    });
    const wait = new FunctionTool({
      name: "wait",
      description: "Waits",
      execute: async () => {
        if (attempt > 1) return { attempt };
        interrupt();
        return new Promise(() => {});
      },
    });
    const root = new LlmAgent({
      name: "cashier",
      model: durable(new ScriptedLlm(script)),
      tools: [durable(pay), wait],
    });
    const sessionService = new SqliteSessionService(`${folder}/sessions.db`);
    onTestFinished(() => sessionService.close());
    return adkAgent(wrapRoot(root), { sessionService, afterRestart: "restart" });
  };
  const task = await runThroughRestart(createAgent, interrupted);
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  return { task, payments, requests, contents };
}

describe("a durable ADK agent", () => {
  it("does not repeat finished model and tool calls after a restart [E18]", async () => {
    const { task, payments, requests } = await runCashier();
    expect(payments).toEqual(["attempt 1"]);
    expect(requests).toEqual(["1 message", "1 pay", "2 wait"]);
    expect(getAnswer(task)).toContain("paid");
  });

  it("does not repeat finished calls in the nodes of a workflow [E18]", async () => {
    const { payments, requests } = await runCashier(
      (root) => new Workflow({ name: "flow", edges: [["START", root]] }),
    );
    expect(payments).toEqual(["attempt 1"]);
    expect(requests).toEqual(["1 message", "1 pay", "2 wait"]);
  });

  it("begins a later attempt with the conversation at the start of the turn [E18]", async () => {
    const { contents } = await runCashier();
    expect(contents).toHaveLength(1);
    const conversation = JSON.parse(contents[0] ?? "") as { role: string; parts: object[] }[];
    expect(conversation.map(({ role, parts }) => `${role} ${Object.keys(parts[0] ?? {}).join()}`)).toEqual([
      "user text",
      "model functionCall",
      "user functionResponse",
      "model functionCall",
      "user functionResponse",
    ]);
    expect(contents[0]).toContain('"receipt":1');
  });

  it("keeps the class and the other methods of a wrapped model or tool", () => {
    const model = new ScriptedLlm(["hi"], { model: "scripted-2" });
    expect(durable(model)).toBeInstanceOf(ScriptedLlm);
    expect(durable(model).model).toBe("scripted-2");
    const tool = new FunctionTool({ name: "pay", description: "Pays", execute: () => 1 });
    expect(durable(tool)).toBeInstanceOf(FunctionTool);
    expect(durable(tool)).toMatchObject({ name: "pay", description: "Pays", isLongRunning: false });
  });
});
