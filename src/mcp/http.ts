import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server } from "@modelcontextprotocol/server";
import { nodeListener } from "../server/index.ts";
import { Sessions } from "./sessions.ts";

type Sdk = typeof import("@modelcontextprotocol/server");

const PATH = "/mcp";

/**
 * MCP over streamable HTTP, of today and of 2025. A request under a foreign name or from a foreign page is refused: a
 * browser can be made to send it, and whatever the agents may do, that page could do.
 */
export class McpHttp {
  readonly #sdk: Sdk;
  readonly #hosts: readonly string[];
  readonly #modern: ReturnType<Sdk["createMcpHandler"]>;
  readonly #sessions: Sessions;
  #http: HttpServer | undefined;

  /** `hosts`: names beside those of this machine under which the server is reached, and from whose pages. */
  constructor(sdk: Sdk, instance: () => Server, hosts: readonly string[]) {
    this.#sdk = sdk;
    this.#hosts = hosts;
    this.#modern = sdk.createMcpHandler(instance, { legacy: "reject" });
    this.#sessions = new Sessions(sdk, instance);
  }

  async fetch(request: Request): Promise<Response> {
    const refused = this.#refusal(request);
    if (refused) return refused;
    return (await this.#sdk.isLegacyRequest(request))
      ? this.#sessions.fetch(request)
      : this.#modern.fetch(request);
  }

  /** On this machine only. */
  async listen(port: number): Promise<string> {
    const http = createServer(nodeListener((request) => this.#atPath(request)));
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
    this.#http = http;
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}${PATH}`;
  }

  async close(): Promise<void> {
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
    const http = this.#http;
    if (!http) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }

  #atPath(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === PATH) return this.fetch(request);
    return Promise.resolve(new Response(`MCP is at ${PATH}.\n`, { status: 404 }));
  }

  #refusal(request: Request): Response | undefined {
    const { hostHeaderValidationResponse, originValidationResponse } = this.#sdk;
    const { localhostAllowedHostnames, localhostAllowedOrigins } = this.#sdk;
    return (
      hostHeaderValidationResponse(request, [...localhostAllowedHostnames(), ...this.#hosts]) ??
      originValidationResponse(request, [...localhostAllowedOrigins(), ...this.#hosts])
    );
  }
}
