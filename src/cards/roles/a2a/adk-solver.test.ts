import {
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
} from "@google/adk";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { toA2a } from "../../../agents/adk/index.ts";
import { SOLVER } from "../../index.ts";
import { forwardingTestPlanner, startRoleTestbed } from "./role-testbed.fixture.ts";

/** A model that first calls its tool and then returns the tool's result. */
class CalculatorModel extends BaseLlm {
  constructor() {
    super({ model: "calculating" });
  }

  override async *generateContentAsync({ contents }: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const answer = contents.flatMap(({ parts = [] }) =>
      parts.flatMap((part) => part.functionResponse?.response ?? []),
    )[0];
    yield answer
      ? {
          content: { role: "model", parts: [{ text: `It is ${JSON.stringify(answer)}` }] },
          usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 4, totalTokenCount: 34 },
        }
      : {
          content: { role: "model", parts: [{ functionCall: { name: "add", args: { a: 2, b: 2 } } }] },
          usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 6, totalTokenCount: 26 },
        };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error("is not live");
  }
}

it("an ADK agent with a tool solves a subtask, and its usage is on its card", async () => {
  const add = new FunctionTool({
    name: "add",
    description: "Adds",
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => ({ sum: a + b }),
  });
  const adk = new LlmAgent({
    name: "adk_solver",
    description: "Adds",
    model: new CalculatorModel(),
    tools: [add],
  });
  const server = toA2a(adk, { store: "memory", port: 0 });
  const { url } = await server.listen();
  onTestFinished(() => server.close({ graceMs: 100 }));
  const { controller, recorder } = await startRoleTestbed(
    { planner: forwardingTestPlanner },
    { roleTargets: { solver: url } },
  );
  const { reply } = await controller.solve({ task: "2 + 2" });
  expect(reply.content).toContain('It is {"sum":4}');
  const wrapped = recorder.uniqueCards.find(({ sender }) => sender === SOLVER);
  expect(wrapped?.metadata).toMatchObject({
    tokens: 60,
    usage: { input_tokens: 50, output_tokens: 10, source: "reported" },
  });
});
