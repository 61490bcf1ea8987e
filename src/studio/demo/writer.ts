import { setTimeout as pause } from "node:timers/promises";
import { agent, artifact, data, inputRequired, status } from "../../agents/adapters/index.ts";
import type { Agent } from "../../engine/index.ts";

const WORDS_TO_WRITE =
  "the agents talk to each other all day long and everyone who listens can follow the conversation".split(
    " ",
  );
const MAX_WRITTEN_WORDS = 1000;
const WORD_DELAY_MS = 100;

/**
 * Demo agent that is written as an async generator. The agent responds slowly, so that users can try
 * streaming, subscribing, reconnecting, and canceling.
 */
export const writerAgent: Agent = agent(
  {
    name: "writer",
    description:
      "Writes the requested number of words, ten per second, and asks for the number if there is none",
    skills: [
      {
        id: "write",
        name: "Write",
        description: "Writes words slowly, to try streaming, subscribing, and canceling",
        tags: ["streaming", "demo"],
        examples: ["Write 30 words"],
      },
    ],
  },
  async function* ({ text, signal }) {
    const number = /\d+/.exec(text)?.[0];
    if (number === undefined) yield inputRequired("How many words should I write?");
    const count = Math.min(Number(number), MAX_WRITTEN_WORDS);
    yield status(`Writing ${count} words…`);
    for (let index = 0; index < count; index++) {
      yield `${index > 0 ? " " : ""}${WORDS_TO_WRITE[index % WORDS_TO_WRITE.length]}`;
      await pause(WORD_DELAY_MS, undefined, { signal });
    }
    yield artifact({ name: "statistics" }, data({ words: count, seconds: (count * WORD_DELAY_MS) / 1000 }));
  },
);
