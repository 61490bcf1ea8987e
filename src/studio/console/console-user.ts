import { isSameSecret } from "../../base/data-structures/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { CallerAgentAccess, OperatorAccess } from "../../server/index.ts";
import { CONSOLE_REQUEST_HEADER } from "../console-api/index.ts";
import { createOwnServerOfCaller, createOwnServerOfOperator, type OwnServer } from "./own-server.ts";
import { getOwnerKey } from "./server-lines.ts";

/** The user of a request to the API. */
export interface ConsoleUser {
  /** Identifies the workspace of the user. */
  readonly key: string;
  readonly server: OwnServer;
  /** Key of the caller whose lines the user may see, or `undefined` for all callers. */
  readonly visibleOwner: string | undefined;
  /** Whether the user may see lines that concern no known task. */
  readonly seesUnownedLines: boolean;
}

/** Authentication of a request by the server that has mounted the console. */
export interface RequestAuthentication {
  readonly createCallerContext: (headers?: CredentialHeaders) => Promise<CallerAgentAccess>;
  readonly findOperatorAccess: (headers?: CredentialHeaders) => Promise<OperatorAccess | undefined>;
}

/** How a user has proved who they are. */
export interface UserProof {
  readonly publicUrl: string;
  /** Whether the user has the launch token, or a session that began with it. */
  readonly hasLaunchToken: boolean;
  /** Headers with the credentials of a session. Default: the headers of the request. */
  readonly credentials?: CredentialHeaders | undefined;
}

type CredentialHeaders = Readonly<Record<string, string>>;

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Throws PERMISSION_DENIED unless a request can come from the page of the console. Browsers send a custom header to
 * other origins only after a preflight request, which the console does not answer.
 */
export function assertRequestOfConsolePage({ method, headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  const isForeign = site !== null && site !== "same-origin" && site !== "none";
  if (!isForeign && (SAFE_METHODS.has(method) || headers.get(CONSOLE_REQUEST_HEADER) === "1")) return;
  throw new A2AError(
    "PERMISSION_DENIED",
    `Only the page of the console may send this request; send the header "${CONSOLE_REQUEST_HEADER}: 1" if you are not a browser.`,
  );
}

/**
 * Returns the user of a request. Operators see the tasks of all callers. Other users are callers of the server, and see
 * their own tasks. Anonymous callers need the launch token, because every local program can connect to a loopback port.
 */
export async function authenticateConsoleUser(
  { publicUrl, hasLaunchToken, credentials }: UserProof,
  { createCallerContext, findOperatorAccess }: RequestAuthentication,
): Promise<ConsoleUser> {
  const operator = await findOperatorAccess(credentials);
  if (operator) {
    return {
      key: `operator ${operator.operator.principal}`,
      server: createOwnServerOfOperator(operator, publicUrl),
      visibleOwner: undefined,
      seesUnownedLines: true,
    };
  }
  const access = await createCallerContext(credentials);
  // The console also shows live lines of the caller's other contexts.
  if (access.caller.contextScope)
    throw new A2AError(
      "PERMISSION_DENIED",
      "The console accepts no context tokens; authenticate with other credentials of the caller.",
    );
  const isAnonymous = access.caller.principal === "";
  if (isAnonymous && !hasLaunchToken)
    throw new A2AError(
      "UNAUTHENTICATED",
      "The request has no valid token; open the URL that the console printed when it started.",
    );
  return {
    key: `caller ${getOwnerKey(access.caller)}`,
    server: createOwnServerOfCaller(access, publicUrl),
    visibleOwner: getOwnerKey(access.caller),
    // With the launch token, the only user of the server is the user of this machine.
    seesUnownedLines: isAnonymous,
  };
}

export function isLaunchToken(given: string, token: string | undefined): boolean {
  return token !== undefined && isSameSecret(given, token);
}

/**
 * Throws PERMISSION_DENIED for a state-changing request with a session that does not come from the page, because browsers
 * add cookies to every request. Browsers set the header Origin of such requests.
 */
export function assertOriginOfConsolePage({ method, headers }: Request, { host }: URL): void {
  if (SAFE_METHODS.has(method) || URL.parse(headers.get("origin") ?? "")?.host === host) return;
  throw new A2AError(
    "PERMISSION_DENIED",
    "A request with a session needs the header Origin of the console; send the launch token or credentials instead.",
  );
}
