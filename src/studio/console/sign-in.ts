import { A2AError, isObject } from "../../protocol/index.ts";
import type { ConsoleSignInRequest, ConsoleSignInResult } from "../console-api/index.ts";
import { createJsonResponse } from "./console-response.ts";
import { authenticateConsoleUser, isLaunchToken, type RequestAuthentication } from "./console-user.ts";
import type { PageSessions } from "./page-sessions.ts";
import { readJsonBody } from "./read-json-body.ts";

interface SignInContext {
  /** The launch token, if the console has one. */
  readonly token: string | undefined;
  readonly sessions: PageSessions;
  /** URL of the page of the console. */
  readonly pageUrl: URL;
  readonly publicUrl: string;
}

/** Headers that contain credentials. Other headers could change the meaning of later requests. */
const CREDENTIAL_HEADER = /^(?=[a-z0-9-]+$)(?:authorization$|.*(?:key|token|secret))/;

/** Starts the session of a page with the launch token, or with credentials that the server accepts. */
export async function signIn(
  request: Request,
  { token, sessions, pageUrl, publicUrl }: SignInContext,
  authentication: RequestAuthentication,
): Promise<Response> {
  const given = parseSignIn(await readJsonBody(request));
  const hasLaunchToken = "token" in given && isLaunchToken(given.token, token);
  const credentials = "headers" in given ? given.headers : undefined;
  await authenticateConsoleUser({ publicUrl, hasLaunchToken, credentials }, authentication);
  const { cookie, key } = sessions.create(pageUrl, { credentials }, Date.now());
  const response = createJsonResponse({ key } satisfies ConsoleSignInResult);
  response.headers.set("set-cookie", cookie);
  return response;
}

function parseSignIn(body: unknown): ConsoleSignInRequest {
  if (isObject(body)) {
    const { token, headers } = body;
    if (typeof token === "string") return { token };
    if (isObject(headers)) {
      const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
      const isValid = entries.every(
        ([name, value]) =>
          CREDENTIAL_HEADER.test(name) && typeof value === "string" && /^[\x20-\x7e]+$/.test(value),
      );
      if (isValid && entries.length === 1)
        return { headers: Object.fromEntries(entries) as Record<string, string> };
    }
  }
  throw A2AError.invalidParams([
    {
      field: "headers",
      description:
        'must be one header with credentials, such as {"authorization": "Bearer …"}, or send {"token": "…"}',
    },
  ]);
}
