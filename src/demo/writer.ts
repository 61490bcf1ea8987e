import { setTimeout as pause } from "node:timers/promises";
import { agent, artifact, data, inputRequired, status } from "../adapters/index.ts";
import type { Agent } from "../engine/index.ts";

const WORDS =
  "the agents of the house talk to each other all day long and whoever listens can follow every word".split(
    " ",
  );
const MAX_WORDS = 1000;
const WORD_DELAY_MS = 100;

/**
 * Demo agent written as a plain async generator. It is slow, so that streaming, subscribing, reconnecting,
 * and canceling can be tried.
 */
export const writerAgent: Agent = agent(
  {
    name: "writer",
    description: "Writes as many words as you ask for, ten per second; asks when you name no number",
    skills: [
      {
        id: "write",
        name: "Write",
        description: "Writes words, slowly: to try streaming, subscribe and cancel",
        tags: ["streaming", "demo"],
        examples: ["Write 30 words"],
      },
    ],
  },
  async function* ({ text, signal }) {
    const number = /\d+/.exec(text)?.[0];
    if (number === undefined) yield inputRequired("How many words shall I write?");
    const count = Math.min(Number(number), MAX_WORDS);
    yield status(`Writing ${count} words…`);
    for (let at = 0; at < count; at++) {
      yield `${at > 0 ? " " : ""}${WORDS[at % WORDS.length]}`;
      await pause(WORD_DELAY_MS, undefined, { signal });
    }
    yield artifact({ name: "statistics" }, data({ words: count, seconds: (count * WORD_DELAY_MS) / 1000 }));
  },
);
