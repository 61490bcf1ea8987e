import {
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LongRunningFunctionTool,
} from "@google/adk";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { ScriptedAgentFile, ScriptedAgentReplyStep, ScriptedAgentTool } from "../scripted-agent-file.ts";

/** Model that selects its reply by the last content of the request. */
class FileScriptedModel extends BaseLlm {
  readonly #replies: ScriptedAgentFile["replies"];

  constructor(replies: ScriptedAgentFile["replies"]) {
    super({ model: "scripted" });
    this.#replies = replies;
  }

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
  ): AsyncGenerator<LlmResponse, void> {
    const key = getReplyKey(request);
    const parts: NonNullable<LlmResponse["content"]>["parts"] = [];
    for (const step of this.#replies[key] ?? [{ text: [`The script has no reply to ${key}.`] }]) {
      if ("error" in step) {
        yield { errorCode: step.code, errorMessage: step.error };
        return;
      }
      if ("call" in step) parts.push({ functionCall: { name: step.call, args: step.args } });
      else if ("file" in step) parts.push({ inlineData: step.file });
      else {
        const chunks = getTextChunks(step, request);
        for (const text of chunks) {
          if (stream) yield { content: { role: "model", parts: [{ text }] }, partial: true };
          if (stream && "pauseMs" in step) await pause(step.pauseMs);
        }
        parts.push({ text: chunks.join("") });
      }
    }
    yield { content: { role: "model", parts } };
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error("This model has no live connections."));
  }
}

/** Returns the name and status of the last tool result, or the text of the last content. */
function getReplyKey({ contents }: LlmRequest): string {
  const parts = contents.at(-1)?.parts ?? [];
  const result = parts.findLast(({ functionResponse }) => functionResponse)?.functionResponse;
  if (!result) return parts.map(({ text = "" }) => text).join("");
  const status = result.response?.["status"];
  return typeof status === "string" ? `${result.name} ${status}` : String(result.name);
}

function getTextChunks(
  step: Extract<ScriptedAgentReplyStep, { text: unknown } | { userTexts: unknown }>,
  { contents }: LlmRequest,
): readonly string[] {
  if ("text" in step) return step.text;
  const users = contents.filter(({ role }) => role === "user");
  const texts = users.flatMap(({ parts = [] }) => parts.flatMap(({ text }) => text ?? []));
  return texts.map((text, index) => (index === 0 ? `You said: ${text}` : ` | ${text}`));
}

/** Creates the agent of `scripted-agent.json`. */
export function createFileScriptedAgent(file: ScriptedAgentFile): LlmAgent {
  return new LlmAgent({
    name: file.name,
    description: file.description,
    model: new FileScriptedModel(file.replies),
    tools: Object.entries(file.tools).map(([name, tool]) => createTool(name, tool)),
  });
}

function createTool(name: string, tool: ScriptedAgentTool): FunctionTool {
  const Tool = tool.isLongRunning ? LongRunningFunctionTool : FunctionTool;
  return new Tool({
    name,
    description: name,
    parameters: z.object(Object.fromEntries(tool.parameters.map((parameter) => [parameter, z.any()]))),
    execute: async (_, context) => {
      if (tool.escalates && context) context.actions.escalate = true;
      for (const [key, value] of Object.entries(tool.sets ?? {})) context?.state.set(key, value);
      if (tool.saves) {
        const { name: fileName, data, mimeType } = tool.saves;
        await context?.saveArtifact(fileName, { inlineData: { data, mimeType } });
      }
      return { ...tool.result };
    },
  });
}
