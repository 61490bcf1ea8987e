import { BaseLlm, LlmAgent, type BaseLlmConnection, type LlmRequest, type LlmResponse } from "@google/adk";
import { runJob } from "../job.ts";
import { SCRIPTED_JOB, SCRIPTED_TEXT } from "../scripted-job.ts";

/** A model that always returns the same text and supports streaming. */
class ScriptedModel extends BaseLlm {
  async *generateContentAsync(_request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    if (stream) {
      for await (const { text } of runJob(SCRIPTED_JOB))
        yield { content: { role: "model", parts: [{ text }] }, partial: true };
    }
    yield { content: { role: "model", parts: [{ text: SCRIPTED_TEXT }] }, turnComplete: true };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error("the scripted model does not support live connections");
  }
}

/** Creates the ADK agent of all ADK rows. */
export function createAdkAgent(): LlmAgent {
  return new LlmAgent({
    name: "scripted",
    description: "Answers with fifty chunks.",
    instruction: "Say your text.",
    model: new ScriptedModel({ model: "scripted" }),
  });
}
