import { once } from "node:events";
import { isStepCount, streamText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../client/index.ts";
import type { Agent } from "../../../engine/index.ts";
import { createServer, type Server } from "../../../server/index.ts";
import { agent, data, failed, file, inputRequired, status } from "../index.ts";
import { a2aTool } from "./index.ts";
import { createToolCall, createScriptedModel } from "./scripted-model.fixture.ts";

let server: Server | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

async function serveAgent(served: Agent): Promise<string> {
  server = createServer(served, { store: "memory", mergeChunks: false });
  return (await server.listen()).url;
}

const agentDescription = { name: "station", description: "Tells the weather of a city" };

const pickStateAndText = (output: unknown): unknown[] => {
  const { state, text } = output as { state: string; text: string };
  return [state, text];
};

/** Returns the tool results that the model received. */
function getLastToolResults({ doStreamCalls }: MockLanguageModelV4): unknown[] {
  const last = doStreamCalls.at(-1)?.prompt.at(-1);
  if (last?.role !== "tool") return [];
  return last.content.flatMap((part) =>
    part.type === "tool-result" && part.output.type === "text"
      ? [JSON.parse(part.output.value) as unknown]
      : [],
  );
}

describe("an A2A agent as a tool of the AI SDK", () => {
  it("answers a model, with preliminary results while it works", async () => {
    const url = await serveAgent(
      agent(agentDescription, async function* ({ text }) {
        yield status("Looking out of the window…");
        yield `${text}: sunny, `;
        yield "21 °C.";
        yield data({ degrees: 21, raw: "data" });
        yield file(new Uint8Array([1]), { filename: "sky.png" });
      }),
    );
    const model = createScriptedModel(function* (prompt) {
      if (prompt.at(-1)?.role === "user") yield createToolCall("station", { message: "Seoul" });
      else yield "It is sunny.";
    });
    const result = streamText({
      model,
      tools: { station: a2aTool(await connect(url)) },
      prompt: "How is the weather?",
      stopWhen: isStepCount(3),
    });
    const seen: unknown[] = [];
    for await (const part of result.stream) {
      if (part.type === "tool-result")
        seen.push([part.preliminary ?? false, ...pickStateAndText(part.output)]);
    }
    expect(await result.text).toBe("It is sunny.");
    expect(seen).toContainEqual([true, "working", "Seoul: sunny, "]);
    expect(seen.at(-1)).toEqual([false, "completed", "Seoul: sunny, 21 °C."]);
    expect(getLastToolResults(model)).toMatchObject([
      {
        state: "completed",
        text: "Seoul: sunny, 21 °C.",
        data: [{ degrees: 21, raw: "data" }],
        files: [{ filename: "sky.png" }],
      },
    ]);
    expect(JSON.stringify(getLastToolResults(model))).not.toContain("AQ==");
  });

  it("returns the agent's question to the model and sends the answer", async () => {
    const url = await serveAgent(
      agent(agentDescription, async function* ({ text, history }) {
        if (history.length === 1) yield inputRequired("Which city?");
        yield `${text}: sunny.`;
      }),
    );
    const model = createScriptedModel(function* (prompt) {
      const last = prompt.at(-1);
      if (last?.role !== "tool") {
        yield createToolCall("station", { message: "Weather?" });
        return;
      }
      const [result] = last.content;
      const output =
        result?.type === "tool-result" && result.output.type === "text" ? result.output.value : "{}";
      const reported = JSON.parse(output) as { state: string; status: string; taskId: string; text: string };
      if (reported.state === "input-required") {
        yield createToolCall("station", { message: "Seoul", taskId: reported.taskId }, "c2");
      } else yield reported.text;
    });
    const tools = { station: a2aTool(url, { description: "Tells the weather" }) };
    const { text } = streamText({ model, tools, prompt: "Weather?", stopWhen: isStepCount(5) });
    expect(await text).toBe("Seoul: sunny.");
  });

  it("returns the reason of a failure to the model", async () => {
    const url = await serveAgent(
      agent(agentDescription, async function* () {
        yield failed("It is too dark to see.");
      }),
    );
    const model = createScriptedModel(function* (prompt) {
      if (prompt.at(-1)?.role === "user") yield createToolCall("station", { message: "Seoul" });
      else yield "I do not know.";
    });
    const tools = { station: a2aTool(url, { description: "Tells the weather" }) };
    await streamText({ model, tools, prompt: "?", stopWhen: isStepCount(3) }).text;
    expect(getLastToolResults(model)).toMatchObject([{ state: "failed", status: "It is too dark to see." }]);
  });

  it("cancels its task when the call is aborted", async () => {
    const cancelled = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const url = await serveAgent(
      agent(agentDescription, async function* ({ signal }) {
        yield status("Waiting for the sun…");
        began.resolve();
        await once(signal, "abort");
        cancelled.resolve();
      }),
    );
    const abort = new AbortController();
    void began.promise.then(() => abort.abort());
    const { execute } = a2aTool(url, { description: "Tells the weather" });
    const answers = execute?.(
      { message: "Seoul" },
      { toolCallId: "c", messages: [], abortSignal: abort.signal, context: {} },
    );
    await expect(async () => {
      for await (const _ of answers as AsyncIterable<unknown>);
    }).rejects.toThrow("abort");
    await cancelled.promise;
  });

  it("requires a description for an agent that is not connected", () => {
    expect(() => a2aTool("http://127.0.0.1:1")).toThrow("needs a description");
  });
});
