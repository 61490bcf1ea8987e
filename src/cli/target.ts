import { connect, type Remote } from "../client/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";
import { Problem } from "./problem.ts";

/** The agent that a command talks to, with all that its options say about how. */
export interface Target {
  /** As the user wrote it, for the commands that are printed. */
  readonly ref: string;
  readonly remote: Remote;
  /** Aborts when the user has had enough, or `--timeout` is over. */
  readonly signal: AbortSignal;
}

/**
 * Which of the words is the agent: none when `--agent-card` names it; else the first, unless the environment names one
 * and the first is no URL.
 */
export function takeAgent(
  words: readonly string[],
  { agentCard }: ClientOptions,
  isFlag: boolean,
): { ref: string; rest: readonly string[] } {
  if (agentCard !== undefined && (isFlag || !/^https?:\/\//i.test(words[0] ?? ""))) {
    return { ref: agentCard, rest: words };
  }
  const [ref, ...rest] = words;
  if (ref !== undefined) return { ref, rest };
  throw new Problem(
    "A2ACLI_ERR_USAGE",
    "Name the agent: its URL as the first argument, or --agent-card.",
    undefined,
  );
}

/** Finds the agent's card and chooses how to talk to it. */
export async function openTarget(ref: string, options: ClientOptions, context: Context): Promise<Target> {
  const signal = signalOf(options, context);
  const credentials = new Credentials(options);
  const send = options.debug ? logged(fetch, context) : fetch;
  const [binding] = options.transport ?? [];
  try {
    const remote = await connect(ref, {
      headers: { ...options.svcParam },
      fetch: (input, init) => send(input, credentials.addTo(init)),
      signal,
      ...(binding ? { binding } : {}),
    });
    credentials.useCard(remote.card);
    return { ref, remote, signal };
  } catch (error) {
    throw asCardProblem(error, ref);
  }
}

function signalOf({ timeout }: ClientOptions, { interrupted }: Context): AbortSignal {
  return timeout === undefined ? interrupted : AbortSignal.any([interrupted, AbortSignal.timeout(timeout)]);
}

function asCardProblem(error: unknown, ref: string): unknown {
  if (!(error instanceof A2AError)) return error;
  const { reason, message } = error;
  if (reason === "NOT_FOUND") return new Problem("A2ACLI_ERR_CARD_NOT_FOUND", message, undefined, error);
  if (reason === "INVALID_PARAMS") return new Problem("A2ACLI_ERR_USAGE", message, undefined, error);
  if (reason !== "INVALID_AGENT_RESPONSE") return error;
  return new Problem("A2ACLI_ERR_CARD_INVALID", message, `curl -i ${ref} shows what answers there.`, error);
}

/** Puts the credentials where the card wants them (A2A §4.5). They never appear in anything that is printed. */
class Credentials {
  readonly #bearer: string | undefined;
  readonly #apiKey: string | undefined;
  #place: { location: "query" | "header" | "cookie"; name: string } = {
    location: "header",
    name: "X-API-Key",
  };

  constructor({ bearer, apiKey }: ClientOptions) {
    this.#bearer = bearer;
    this.#apiKey = apiKey;
  }

  useCard({ securitySchemes = {} }: AgentCard): void {
    for (const scheme of Object.values(securitySchemes)) {
      if ("apiKeySecurityScheme" in scheme) this.#place = scheme.apiKeySecurityScheme;
    }
  }

  addTo(init: RequestInit = {}): RequestInit {
    const headers = new Headers(init.headers);
    if (this.#bearer !== undefined) headers.set("Authorization", `Bearer ${this.#bearer}`);
    if (this.#apiKey !== undefined) {
      const { location, name } = this.#place;
      if (location === "cookie") headers.append("Cookie", `${name}=${this.#apiKey}`);
      else headers.set(name, this.#apiKey);
    }
    return { ...init, headers };
  }
}

/** Reports each request on stderr: how long it took and how it ended, never its headers or its body. */
function logged(send: typeof fetch, { streams }: Context): typeof fetch {
  return async (input, init) => {
    const began = performance.now();
    const what = `${init?.method ?? "GET"} ${input instanceof Request ? input.url : String(input)}`;
    const took = (): string => `${Math.round(performance.now() - began)} ms`;
    try {
      const response = await send(input, init);
      streams.err(`debug: ${what}: ${response.status} in ${took()}\n`);
      return response;
    } catch (error) {
      streams.err(`debug: ${what}: ${String(error)} in ${took()}\n`);
      throw error;
    }
  };
}
