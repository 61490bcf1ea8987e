import type { Agent, AgentEvent, Run } from "../../../src/engine/index.ts";
import { getText } from "../../../src/protocol/index.ts";
import { parseJobFromMessageText, generateJobChunks } from "../benchmark-job.ts";

/** The agent of the benchmark, implemented for Colloquy's engine. */
export const chunkAgent: Agent = {
  describe: () => ({ name: "Chunks", description: "Answers in chunks." }),
  async *execute({ message }: Run): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    const job = parseJobFromMessageText(getText(message.parts));
    let append = false;
    for await (const { text, last } of generateJobChunks(job)) {
      yield { artifact: { artifactId: "answer", parts: [{ text }] }, append, lastChunk: last };
      append = true;
    }
    if (job.kind === "question") yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
  },
};
