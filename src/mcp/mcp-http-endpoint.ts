import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server } from "@modelcontextprotocol/server";
import { toNodeListener } from "../server/index.ts";
import { McpSessionRouter } from "./mcp-session-router.ts";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

const MCP_PATH = "/mcp";

/**
 * MCP over streamable HTTP, of today and of 2025. A request under a foreign name or from a foreign page is refused: a
 * browser can be made to send it, and whatever the agents may do, that page could do.
 */
export class McpHttpEndpoint {
  readonly #sdk: McpServerSdk;
  readonly #allowedHosts: readonly string[];
  readonly #modernHandler: ReturnType<McpServerSdk["createMcpHandler"]>;
  readonly #sessionRouter: McpSessionRouter;
  #httpServer: HttpServer | undefined;

  /** `hosts`: names beside those of this machine under which the server is reached, and from whose pages. */
  constructor(sdk: McpServerSdk, instance: () => Server, hosts: readonly string[]) {
    this.#sdk = sdk;
    this.#allowedHosts = hosts;
    this.#modernHandler = sdk.createMcpHandler(instance, { legacy: "reject" });
    this.#sessionRouter = new McpSessionRouter(sdk, instance);
  }

  async fetch(request: Request): Promise<Response> {
    const refused = this.#rejectForeignOrigin(request);
    if (refused) return refused;
    return (await this.#sdk.isLegacyRequest(request))
      ? this.#sessionRouter.fetch(request)
      : this.#modernHandler.fetch(request);
  }

  /** On this machine only. */
  async listen(port: number): Promise<string> {
    const http = createServer(toNodeListener((request) => this.#handleAtPath(request)));
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
    this.#httpServer = http;
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}${MCP_PATH}`;
  }

  async close(): Promise<void> {
    await Promise.all([this.#modernHandler.close(), this.#sessionRouter.close()]);
    const http = this.#httpServer;
    if (!http) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }

  #handleAtPath(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === MCP_PATH) return this.fetch(request);
    return Promise.resolve(new Response(`MCP is at ${MCP_PATH}.\n`, { status: 404 }));
  }

  #rejectForeignOrigin(request: Request): Response | undefined {
    const { hostHeaderValidationResponse, originValidationResponse } = this.#sdk;
    const { localhostAllowedHostnames, localhostAllowedOrigins } = this.#sdk;
    return (
      hostHeaderValidationResponse(request, [...localhostAllowedHostnames(), ...this.#allowedHosts]) ??
      originValidationResponse(request, [...localhostAllowedOrigins(), ...this.#allowedHosts])
    );
  }
}
