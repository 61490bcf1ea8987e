import type { Agent, AgentEvent, Run } from "../../src/engine/index.ts";
import { textOf } from "../../src/protocol/index.ts";
import { parseJob, perform } from "../job.ts";

/** The bench's agent on Colloquy's port. */
export const chunkAgent: Agent = {
  describe: () => ({ name: "Chunks", description: "Answers in chunks." }),
  async *execute({ message }: Run): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    let append = false;
    for await (const { text, last } of perform(parseJob(textOf(message.parts)))) {
      yield { artifact: { artifactId: "answer", parts: [{ text }] }, append, lastChunk: last };
      append = true;
    }
  },
};
