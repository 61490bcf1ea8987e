import type { Scenario } from "../programs/adk/scripted-agent-file.ts";
import type { SessionDigest, TurnDigest } from "./session-digest.ts";

/** A conversation with our generator agent, and the session that the caller must have afterward. */
export interface GeneratorScenario extends Scenario {
  readonly wanted: SessionDigest;
}

const emptyTurn: TurnDigest = {
  text: "",
  calls: [],
  results: [],
  files: [],
  isFailed: false,
  emptyParts: 0,
};

function createWantedDigest(...turns: readonly Partial<TurnDigest>[]): SessionDigest {
  return { turns: turns.map((turn) => ({ ...emptyTurn, ...turn })), state: { color: "blue" }, artifacts: {} };
}

export const GENERATOR_SCENARIOS: Readonly<Record<string, GeneratorScenario>> = {
  stream: {
    turns: [{ text: "count" }],
    wanted: createWantedDigest({ text: "one two three" }),
  },
  whole: {
    turns: [{ text: "count" }],
    isWhole: true,
    wanted: createWantedDigest({ text: "one two three" }),
  },
  question: {
    turns: [{ text: "ask" }, { answer: { result: "blue" }, text: "blue" }],
    wanted: createWantedDigest({ text: "Which color?" }, { text: "got blue" }),
  },
  "sign-in": {
    turns: [{ text: "sign in" }],
    wanted: createWantedDigest({ text: "Sign in first." }),
  },
  files: {
    turns: [{ text: "files" }],
    wanted: createWantedDigest({
      text: "Here it is: ",
      files: ["image/png dot.png iVBORw0KGgo=", `data {"width":1}`],
    }),
  },
  failure: {
    turns: [{ text: "fail" }],
    wanted: createWantedDigest({ text: "Partly. ", isFailed: true }),
  },
  "follow-up": {
    turns: [{ text: "count" }, { text: "count" }],
    wanted: createWantedDigest({ text: "one two three" }, { text: "one two three" }),
  },
};
