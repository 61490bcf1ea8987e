import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server } from "@modelcontextprotocol/server";
import { toNodeListener } from "../../server/index.ts";
import { McpSessionRouter } from "./mcp-session-router.ts";
import type { TaskSubscriptionEndpoint } from "./tasks/task-subscription-endpoint.ts";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

const MCP_PATH = "/mcp";

/**
 * An MCP endpoint over streamable HTTP, for hosts of MCP 2026 and 2025. The endpoint rejects requests with an
 * unknown `Host` or `Origin`. Without this check, a web page could call the agents through the browser.
 */
export class McpHttpEndpoint {
  readonly #sdk: McpServerSdk;
  readonly #allowedHosts: readonly string[];
  readonly #modernHandler: ReturnType<McpServerSdk["createMcpHandler"]>;
  readonly #sessionRouter: McpSessionRouter;
  readonly #taskSubscriptions: TaskSubscriptionEndpoint;
  #httpServer: HttpServer | undefined;

  /** The endpoint accepts the host names in `allowedHosts` in addition to those of this machine. */
  constructor(
    sdk: McpServerSdk,
    createSdkServer: () => Server,
    taskSubscriptions: TaskSubscriptionEndpoint,
    allowedHosts: readonly string[],
  ) {
    this.#sdk = sdk;
    this.#allowedHosts = allowedHosts;
    this.#taskSubscriptions = taskSubscriptions;
    this.#modernHandler = sdk.createMcpHandler(createSdkServer, { legacy: "reject" });
    this.#sessionRouter = new McpSessionRouter(sdk, createSdkServer);
  }

  async fetch(request: Request): Promise<Response> {
    const rejection = this.#rejectForeignOrigin(request);
    if (rejection) return rejection;
    if (await this.#sdk.isLegacyRequest(request)) return this.#sessionRouter.fetch(request);
    return this.#taskSubscriptions.fetch(request, (other) => this.#modernHandler.fetch(other));
  }

  /** Notifies all subscribed hosts that the tools have changed. */
  async notifyToolsChanged(): Promise<void> {
    this.#modernHandler.notify.toolsChanged();
    this.#taskSubscriptions.notifyToolsChanged();
    await this.#sessionRouter.notifyToolsChanged();
  }

  /** Listens on the loopback interface and returns the URL of the endpoint. */
  async listen(port: number): Promise<string> {
    const http = createServer(toNodeListener((request) => this.#handleAtPath(request)));
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
    this.#httpServer = http;
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}${MCP_PATH}`;
  }

  async close(): Promise<void> {
    this.#taskSubscriptions.close();
    await Promise.all([this.#modernHandler.close(), this.#sessionRouter.close()]);
    const http = this.#httpServer;
    if (!http) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }

  #handleAtPath(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === MCP_PATH) return this.fetch(request);
    return Promise.resolve(new Response(`Not found; the MCP endpoint is at ${MCP_PATH}.\n`, { status: 404 }));
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
