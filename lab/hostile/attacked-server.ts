import { setTimeout } from "node:timers/promises";
import { agent, chunk, inputRequired } from "../../src/agents/adapters/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { bearer } from "../../src/server/auth/index.ts";
import type { ListenOptions, ServerOptions } from "../../src/server/index.ts";
import type { AttackCredentials, AttackedServerSetup } from "./attack.ts";

/** Credentials that the attacked server knows, except `wrong`. */
export const ATTACK_CREDENTIALS: AttackCredentials = {
  victim: "Bearer victim-token-0123456789",
  stranger: "Bearer stranger-token-0123456789",
  wrong: "Bearer unknown-token-0123456789",
};

/** Size of the artifact of `large`, in characters. */
export const LARGE_ARTIFACT_LENGTH = 9_500_000;

/** Agents of every attacked server. An attack can replace them and add others. */
export const ATTACKED_AGENTS: Readonly<Record<"echo" | "large" | "slow" | "stream" | "ask", Agent>> = {
  /** Replies with the text of the message. */
  echo: agent({ name: "echo", description: "Repeats the message" }, async function* ({ text }) {
    yield text;
  }),
  /** Replies with an artifact of 9.5 MB, or of as many characters as the message says. */
  large: agent({ name: "large", description: "Replies with a large artifact" }, async function* ({ text }) {
    yield "x".repeat(Number(text) || LARGE_ARTIFACT_LENGTH);
  }),
  /** Works until it is canceled, and replies to `quick` at once. */
  slow: agent(
    { name: "slow", description: "Works until it is canceled" },
    async function* ({ text, signal }) {
      if (text !== "quick") await setTimeout(600_000, undefined, { signal });
      yield "done";
    },
  ),
  /** Writes a chunk of 1,000 characters every 10 milliseconds until it is canceled. */
  stream: agent({ name: "stream", description: "Writes chunks" }, async function* ({ signal }) {
    while (!signal.aborted) {
      yield chunk("chunks", "y".repeat(1000));
      await setTimeout(10, undefined, { signal });
    }
  }),
  /** Asks for more input after every message. */
  ask: agent({ name: "ask", description: "Asks for more input" }, async function* () {
    yield inputRequired("What else?");
  }),
};

/** Returns the agents and options of the server that an attack attacks. */
export function resolveAttackedServer({ agents, options, listen }: AttackedServerSetup): {
  readonly agents: Record<string, Agent>;
  readonly options: ServerOptions;
  readonly listen: ListenOptions;
} {
  const tokens = {
    [ATTACK_CREDENTIALS.victim.slice("Bearer ".length)]: { principal: "victim" },
    [ATTACK_CREDENTIALS.stranger.slice("Bearer ".length)]: { principal: "stranger" },
  };
  return {
    agents: { ...ATTACKED_AGENTS, ...agents },
    options: { store: "memory", authenticate: bearer({ tokens }), ...options },
    listen: { ...listen },
  };
}
