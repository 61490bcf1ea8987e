import { BaseLlm, LlmAgent, type BaseLlmConnection, type LlmRequest, type LlmResponse } from "@google/adk";
import { generateJobChunks } from "../benchmark-job.ts";
import { JOB_DEFINING_SCRIPTED_MODEL_REPLY, SCRIPTED_MODEL_REPLY_TEXT } from "../scripted-model-reply.ts";

/** A model that always returns the same text and supports streaming. */
class ScriptedModel extends BaseLlm {
  async *generateContentAsync(_request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    if (stream) {
      for await (const { text } of generateJobChunks(JOB_DEFINING_SCRIPTED_MODEL_REPLY))
        yield { content: { role: "model", parts: [{ text }] }, partial: true };
    }
    yield { content: { role: "model", parts: [{ text: SCRIPTED_MODEL_REPLY_TEXT }] }, turnComplete: true };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error("the scripted model does not support live connections");
  }
}

/** Creates the ADK agent of all ADK rows. */
export function createScriptedAdkAgent(): LlmAgent {
  return new LlmAgent({
    name: "scripted",
    description: "Answers with fifty chunks.",
    instruction: "Say your text.",
    model: new ScriptedModel({ model: "scripted" }),
  });
}
