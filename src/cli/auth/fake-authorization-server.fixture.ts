import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A response of an endpoint. */
export interface TestEndpointResponse {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An OAuth 2.0 authorization server on a real socket. Its users log in at once. */
export class FakeAuthorizationServer {
  /** Forms that the server received, by path. */
  readonly forms: {
    readonly path: string;
    readonly form: Record<string, string>;
    readonly authorization?: string;
  }[] = [];
  /** Responses that replace the next responses of an endpoint, by path. */
  readonly scriptedResponses: Map<string, TestEndpointResponse[]> = new Map<string, TestEndpointResponse[]>();
  /** Members that replace those of the metadata. */
  metadata: Record<string, unknown> = {};
  /** Parameters that replace those of the redirect to the client. An empty value removes a parameter. */
  redirectParameters: Record<string, string> = {};
  readonly #validTokens = new Set<string>();
  readonly #refreshTokens = new Set<string>();
  readonly #codeChallenges = new Map<string, string>();
  #url = "";

  static async start(): Promise<FakeAuthorizationServer> {
    const server = new FakeAuthorizationServer();
    const http = createServer((request, response) => void server.#respond(request, response));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    server.#url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    onTestFinished(() => {
      http.close();
      http.closeAllConnections();
    });
    return server;
  }

  get url(): string {
    return this.#url;
  }

  accepts(authorization: string | undefined): boolean {
    return this.#validTokens.has(authorization?.replace(/^Bearer /, "") ?? "");
  }

  revokeTokens(): void {
    this.#validTokens.clear();
  }

  /** The grant types of the token requests, in order. */
  get grants(): (string | undefined)[] {
    return this.forms.filter(({ path }) => path === "/token").map(({ form }) => form["grant_type"]);
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.#url);
    const form = Object.fromEntries(new URLSearchParams(await readText(request)));
    const { authorization } = request.headers;
    if (request.method === "POST")
      this.forms.push({ path: url.pathname, form, ...(authorization ? { authorization } : {}) });
    const scripted = this.scriptedResponses.get(url.pathname)?.shift();
    const { status = 200, json = {}, headers = {} } = scripted ?? this.#handle(url, form);
    response.writeHead(status, { "content-type": "application/json", connection: "close", ...headers });
    response.end(JSON.stringify(json));
  }

  #handle(url: URL, form: Record<string, string>): TestEndpointResponse {
    if (url.pathname === "/authorize") return this.#redirect(url.searchParams);
    if (url.pathname === "/token") return this.#issue(form);
    if (url.pathname === "/device")
      return {
        json: {
          device_code: "device-secret",
          user_code: "ABCD-EFGH",
          verification_uri: `${this.#url}/enter`,
          expires_in: 600,
          interval: 0,
        },
      };
    if (!url.pathname.startsWith("/.well-known/")) return { status: 404 };
    return {
      json: {
        issuer: this.#url,
        token_endpoint: `${this.#url}/token`,
        authorization_endpoint: `${this.#url}/authorize`,
        ...this.metadata,
      },
    };
  }

  #redirect(parameters: URLSearchParams): TestEndpointResponse {
    const code = randomBytes(8).toString("hex");
    this.#codeChallenges.set(code, parameters.get("code_challenge") ?? "");
    const target = new URL(parameters.get("redirect_uri") ?? "");
    const returned = { code, state: parameters.get("state") ?? "", ...this.redirectParameters };
    for (const [name, value] of Object.entries(returned))
      if (value !== "") target.searchParams.set(name, value);
    return { status: 302, headers: { location: target.href } };
  }

  #issue({
    grant_type,
    code = "",
    code_verifier = "",
    refresh_token = "",
  }: Record<string, string>): TestEndpointResponse {
    const isCodeValid =
      this.#codeChallenges.get(code) === createHash("sha256").update(code_verifier).digest("base64url");
    if (grant_type === "authorization_code" && !isCodeValid) return refuse("invalid_grant");
    if (grant_type === "refresh_token" && !this.#refreshTokens.delete(refresh_token))
      return refuse("invalid_grant");
    const accessToken = `access-${randomBytes(8).toString("hex")}`;
    const refreshToken = `refresh-${randomBytes(8).toString("hex")}`;
    this.#validTokens.add(accessToken);
    this.#refreshTokens.add(refreshToken);
    return {
      json: {
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: 3_600,
        ...(grant_type === "client_credentials" ? {} : { refresh_token: refreshToken }),
      },
    };
  }
}

export function refuse(error: string, error_description?: string): TestEndpointResponse {
  return { status: 400, json: { error, error_description } };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  return text;
}
