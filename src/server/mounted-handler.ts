import type { Caller } from "../engine/index.ts";
import { authenticateCaller, ANONYMOUS_CALLER } from "./auth/authenticate-caller.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { FetchRequest, toResponse } from "./fetch-adapter.ts";
import { routeRequest, type RouterContext } from "./router.ts";

/** Something else at a server's address, such as another way to speak with its agents. */
export interface MountedHandler {
  /** Whether a path (without `basePath`) is its own: no agent is asked there any more. */
  matchesPath(path: string): boolean;
  /**
   * `createCallerContext` lets in whoever asks as for an agent, and is the only way to the agents; it rejects with an A2AError. What is
   * answered without it is public.
   */
  handle(request: Request, enter: () => Promise<CallerContext>): Promise<Response>;
}

/** The agents of a server, for somebody who has been let in. */
export interface CallerContext {
  readonly caller: Caller;
  /** Where the agents are for `fetch`, and for nobody else. */
  readonly url: string;
  /** Answers as the server would answer that caller, without a socket. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** By this name cards say where agents are inside; a server that signs its cards vouches for this machine. */
const IN_PROCESS_URL = "http://localhost";

/** Authenticates once; whoever is inside is the same caller with every request. */
export async function createCallerContext(
  request: HttpRequest,
  context: RouterContext,
): Promise<CallerContext> {
  const { authenticate } = context;
  const caller = authenticate ? await authenticateCaller(request, authenticate) : ANONYMOUS_CALLER;
  const inside: RouterContext = {
    ...context,
    publicUrl: undefined,
    assertHostAllowed: () => {},
    authenticate: authenticate && (() => caller),
  };
  return {
    caller,
    url: IN_PROCESS_URL,
    fetch: async (asked) => {
      const given = new FetchRequest(asked);
      return toResponse(await routeRequest(given, inside), given);
    },
  };
}
