import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  type IssuedToken,
  type OAuthClientIdentity,
  type OAuthEndpoint,
  requestToken,
} from "../../client/index.ts";
import { createLoginError, describeRefusal } from "./device-login.ts";

export interface BrowserLoginOptions {
  readonly fetch: typeof fetch;
  /** URL of the login page (RFC 6749 §3.1). */
  readonly pageUrl: string;
  readonly tokenEndpoint: OAuthEndpoint;
  readonly client: OAuthClientIdentity;
  readonly scopes: readonly string[];
  readonly issuer?: string | undefined;
  /** Whether the server names the issuer in its redirects (RFC 9207). */
  readonly sendsIssuer: boolean;
  /** Port of the local URL to which the browser returns. Port 0 selects any free port. */
  readonly port: number;
  readonly signal: AbortSignal;
  /** Receives the URL that the user opens in a browser. */
  readonly onUrl: (url: string) => void;
}

const CALLBACK_PATH = "/callback";
const HOST = "127.0.0.1";

/**
 * Gets a token with a page that the user opens in a browser of this machine (RFC 6749 §4.1). The browser returns to a
 * local URL (RFC 8252 §7.3), and PKCE binds the returned code to this process (RFC 7636).
 */
export async function loginWithBrowser(options: BrowserLoginOptions): Promise<IssuedToken> {
  const { fetch, tokenEndpoint, client, port, signal, onUrl } = options;
  const state = createRandomText();
  const codeVerifier = createRandomText();
  signal.throwIfAborted();
  const server = createServer();
  server.listen(port, HOST);
  await once(server, "listening");
  try {
    const redirectUri = `http://${HOST}:${(server.address() as AddressInfo).port}${CALLBACK_PATH}`;
    const returned = waitForReturn(server, state, signal);
    onUrl(buildPageUrl(options, { state, codeVerifier, redirectUri }));
    const code = findCode(await returned, options);
    const answer = await requestToken(fetch, tokenEndpoint, client, {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    });
    if ("accessToken" in answer) return answer;
    throw createLoginError(
      `${tokenEndpoint.url} issued no token: ${describeRefusal(answer, [client.secret, code, codeVerifier])}`,
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function createRandomText(): string {
  return randomBytes(32).toString("base64url");
}

function buildPageUrl(
  { pageUrl, client, scopes }: BrowserLoginOptions,
  { state, codeVerifier, redirectUri }: { state: string; codeVerifier: string; redirectUri: string },
): string {
  const url = new URL(pageUrl);
  const parameters = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(scopes.length > 0 ? { scope: scopes.join(" ") } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Resolves with the parameters of the redirect with the expected `state`. Other requests are refused and do not end the
 * login, because every web page in the browser can send them.
 */
function waitForReturn(server: Server, state: string, signal: AbortSignal): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const url = URL.parse(request.url ?? "", `http://${HOST}`);
      if (request.method !== "GET" || url?.pathname !== CALLBACK_PATH)
        return sendPage(response, 404, "Not found.");
      if (url.searchParams.getAll("state").join() !== state)
        return sendPage(response, 400, "This is not the login that colloquy started. Close this page.");
      sendPage(response, 200, "Close this page. The terminal shows the result of the login.", () =>
        resolve(url.searchParams),
      );
    });
  });
}

/** Sends a fixed text. The text contains no part of the request, because any web page can cause the request. */
function sendPage(response: ServerResponse, status: number, text: string, onSent?: () => void): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(`${text}\n`, onSent);
}

function findCode(parameters: URLSearchParams, { issuer, sendsIssuer }: BrowserLoginOptions): string {
  const [namedIssuer, ...others] = parameters.getAll("iss");
  const isOther = issuer !== undefined && (namedIssuer ?? (sendsIssuer ? "" : issuer)) !== issuer;
  if (isOther || others.length > 0)
    throw createLoginError("The browser returned from a different server than the one that it was sent to.");
  const error = parameters.get("error");
  if (error === "access_denied") throw createLoginError("The login was denied.");
  const description = parameters.get("error_description");
  if (error !== null)
    throw createLoginError(
      [error, description]
        .filter((text) => text !== null)
        .join(": ")
        .slice(0, 300),
    );
  const [code, ...rest] = parameters.getAll("code");
  if (code === undefined || code === "" || rest.length > 0)
    throw createLoginError("The server returned no code.");
  return code;
}
