import type { Caller } from "../engine/index.ts";
import { callerOf, ANYBODY } from "./auth/caller.ts";
import type { HttpRequest } from "./exchange.ts";
import { FetchRequest, toResponse } from "./fetch.ts";
import { route, type RouterContext } from "./router.ts";

/** Something else at a server's address, such as another way to speak with its agents. */
export interface Beside {
  /** Whether a path (without `basePath`) is its own: no agent is asked there any more. */
  takes(path: string): boolean;
  /**
   * `enter` lets in whoever asks as for an agent, and is the only way to the agents; it rejects with an A2AError. What is
   * answered without it is public.
   */
  answer(request: Request, enter: () => Promise<Inside>): Promise<Response>;
}

/** The agents of a server, for somebody who has been let in. */
export interface Inside {
  readonly caller: Caller;
  /** Where the agents are for `fetch`, and for nobody else. */
  readonly url: string;
  /** Answers as the server would answer that caller, without a socket. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** By this name cards say where agents are inside; a server that signs its cards vouches for this machine. */
const URL_INSIDE = "http://localhost";

/** Authenticates once; whoever is inside is the same caller with every request. */
export async function enter(request: HttpRequest, context: RouterContext): Promise<Inside> {
  const { authenticate } = context;
  const caller = authenticate ? await callerOf(request, authenticate) : ANYBODY;
  const inside: RouterContext = {
    ...context,
    publicUrl: undefined,
    admit: () => {},
    authenticate: authenticate && (() => caller),
  };
  return {
    caller,
    url: URL_INSIDE,
    fetch: async (asked) => {
      const given = new FetchRequest(asked);
      return toResponse(await route(given, inside), given);
    },
  };
}
