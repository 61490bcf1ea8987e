import { generateText, streamText, tool, ToolLoopAgent, type ToolSet } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Agent } from "../../../engine/index.ts";
import { getText, type Task } from "../../../protocol/index.ts";
import { agent, type Turn } from "../generator-agent.ts";
import { runThroughRestart } from "../server-restart.fixture.ts";
import { durable, durableTools, fromAiSdk } from "./index.ts";
import { createScriptedModel, createToolCall, type ModelScript } from "./scripted-model.fixture.ts";

const DESCRIPTION = { name: "cashier", description: "For tests" };

const getAnswer = ({ artifacts = [] }: Task): string => getText(artifacts[0]?.parts ?? []);

describe("a durable model", () => {
  const createPay = (payments: string[]): ToolSet => ({
    pay: tool({
      inputSchema: z.object({ amount: z.number() }),
      execute: ({ amount }, options) => {
        payments.push(`${amount} ${(options as unknown as { idempotencyKey: string }).idempotencyKey}`);
        return { receipt: payments.length, at: new Date(0), signature: new Uint8Array([7]) };
      },
    }),
  });

  it("does not repeat finished model and tool calls after a restart [E18]", async () => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const payments: string[] = [];
    const prompts: string[] = [];
    const createAgent = (attempt: number): Agent => {
      const script: ModelScript = async function* (prompt) {
        const last = prompt.at(-1)?.role ?? "";
        prompts.push(`${attempt} ${last}`);
        if (last === "user") {
          yield `I pay in attempt ${attempt}. `;
          yield createToolCall("pay", { amount: 5 });
          return;
        }
        if (attempt === 1) {
          interrupt();
          await new Promise(() => {});
        }
        yield `Paid with ${JSON.stringify(prompt.at(-1)?.content)}`;
      };
      const tools = durableTools(createPay(payments));
      const model = durable(createScriptedModel(script));
      return fromAiSdk(new ToolLoopAgent({ model, tools }), { ...DESCRIPTION, afterRestart: "restart" });
    };
    const task = await runThroughRestart(createAgent, interrupted);
    expect(prompts).toEqual(["1 user", "1 tool", "2 tool"]);
    expect(payments).toEqual([expect.stringMatching(/^5 [0-9a-f]{32}$/)]);
    expect(getAnswer(task)).toContain("I pay in attempt 1. \n\nPaid with");
    expect(getAnswer(task)).toContain('"receipt":1');
  });

  it("repeats a call that failed, and keeps the number of the call [E18]", async () => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const calls: string[] = [];
    const createAgent = (attempt: number): Agent =>
      agent(
        DESCRIPTION,
        async function* (run: Turn) {
          let failures = attempt === 1 ? 1 : 0;
          const model = durable(
            createScriptedModel(function* () {
              calls.push(`${attempt}`);
              if (failures-- > 0) throw new Error("503");
              yield `from attempt ${attempt}`;
            }),
          );
          for (let at = 0; at < 3 - attempt; at++) {
            const { stream } = streamText({
              model,
              prompt: "hi",
              abortSignal: run.signal,
              onError: () => {},
            });
            const texts: string[] = [];
            try {
              for await (const part of stream) if (part.type === "text-delta") texts.push(part.text);
            } catch {
              // The agent calls its model again.
            }
            yield* texts;
          }
          if (attempt > 1) return;
          interrupt();
          await new Promise(() => {});
        },
        { afterRestart: "restart" },
      );
    const task = await runThroughRestart(createAgent, interrupted);
    expect(calls).toEqual(["1", "1"]);
    expect(getAnswer(task)).toBe("from attempt 1");
  });

  it("stores generated answers without request headers, and makes calls with other input anew [E18]", async () => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const calls: string[] = [];
    const createAgent = (attempt: number): Agent =>
      agent(
        DESCRIPTION,
        async function* (run: Turn) {
          const scripted = createScriptedModel(() => []);
          scripted.doGenerate = ({ prompt }) => {
            calls.push(`${attempt} ${JSON.stringify(prompt.at(-1)?.content)}`);
            return Promise.resolve({
              content: [{ type: "text", text: `${calls.length} ` }],
              finishReason: { unified: "stop", raw: undefined },
              usage: {
                inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
                outputTokens: { total: 1, text: 1, reasoning: undefined },
              },
              warnings: [],
              response: { timestamp: new Date(5), headers: { cookie: "secret" } },
            });
          };
          const model = durable(scripted, run);
          for (const prompt of ["same", "same", `attempt ${attempt}`]) {
            const { text, response } = await generateText({ model, prompt });
            expect(response.timestamp).toEqual(new Date(5));
            expect(response.headers).toBeUndefined();
            yield text;
          }
          if (attempt > 1) return;
          interrupt();
          await new Promise(() => {});
        },
        { afterRestart: "restart" },
      );
    const task = await runThroughRestart(createAgent, interrupted);
    expect(calls).toHaveLength(4);
    expect(calls[3]).toContain("attempt 2");
    expect(getAnswer(task)).toBe("1 2 4 ");
  });

  it("runs no tool before the store has the model's answer [E18]", async () => {
    const order: string[] = [];
    const run = {
      once: async <T>(key: string, execute: (step: never) => T | PromiseLike<T>): Promise<T> => {
        const result = await execute({ idempotencyKey: "k" } as never);
        order.push(key.slice(0, key.indexOf(" ")));
        return result;
      },
    };
    const script: ModelScript = (prompt) =>
      prompt.at(-1)?.role === "user" ? [createToolCall("pay", { amount: 1 })] : ["done"];
    const pay = tool({
      inputSchema: z.object({ amount: z.number() }),
      execute: () => void order.push("executed"),
    });
    const loop = new ToolLoopAgent({
      model: durable(createScriptedModel(script), run),
      tools: durableTools({ pay }, run),
    });
    const { text } = await loop.stream({ prompt: "hi" });
    expect(await text).toBe("done");
    expect(order).toEqual(["colloquy:model", "executed", "colloquy:tool", "colloquy:model"]);
  });

  it("returns the last result of a tool that streams results", async () => {
    const run = {
      once: async <T>(_key: string, execute: (step: never) => T | PromiseLike<T>): Promise<T> =>
        await execute({ idempotencyKey: "k" } as never),
    };
    const { count } = durableTools(
      {
        count: tool({
          inputSchema: z.object({}),
          execute: async function* () {
            yield 1;
            yield 2;
          },
        }),
      },
      run,
    );
    const options = { toolCallId: "c", messages: [], context: {} } as never;
    expect(await count.execute?.({}, options)).toBe(2);
  });

  it("refuses a call without a run, and states the remedy", async () => {
    const model = durable(createScriptedModel(() => ["hi"]));
    await expect(generateText({ model, prompt: "hi" })).rejects.toThrow("Pass abortSignal: run.signal");
  });
});
