import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Committer, Engine, safely, systemClock, type Agent, type TaskStore } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { Gate } from "./auth/authentication.ts";
import { EventStreams, type Told } from "./bindings/event-stream.ts";
import { enter, type Beside } from "./beside.ts";
import type { HttpReply, HttpRequest } from "./exchange.ts";
import { createPush, type Push } from "./push/push.ts";
import { FetchRequest, toResponse } from "./fetch.ts";
import { listenGrpc, type GrpcDoor, type GrpcOptions } from "./bindings/grpc.ts";
import { MountedRequest } from "./mounted.ts";
import { NodeRequest, sendNode, wholeUrl } from "./node.ts";
import { nodeListener } from "./node-listener.ts";
import { checkBind, HostNames, isLoopback } from "./loopback.ts";
import { chooseStore } from "./open-store.ts";
import { refuseRest } from "./bindings/rest.ts";
import { checkOptions, VERSIONS, type ServerOptions } from "./options.ts";
import { publishedKeys } from "./published-keys.ts";
import { route, type RouterContext } from "./router.ts";
import { checkerOf, onlyTenant } from "./tenants.ts";
import { byId, pathOf, serve, type ServedAgent, type ServeOptions } from "./served-agent.ts";

export interface ListenOptions {
  /** 0 (default) takes any free port. */
  readonly port?: number;
  /** Default 127.0.0.1: this machine only. */
  readonly host?: string;
  /** Also listens for gRPC, on a port of its own. Takes the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. */
  readonly grpc?: boolean | GrpcOptions;
}

/** Where a listening server is. */
export interface Address {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Where gRPC is served, when it is. */
  readonly grpc?: { readonly host: string; readonly port: number };
  readonly agents: readonly { readonly id: string; readonly url: string; readonly cardUrl: string }[];
}

/** One or several agents, served over A2A. */
export interface Server {
  /** For hosts that speak `Request` and `Response` (Hono, Next, Deno, Bun, workers). Opens the store at first use. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http` and what is built on it. */
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /**
   * Opens the store, settles what an earlier process left unfinished, and listens. Rejects for an agent whose
   * description can not be a card.
   */
  listen(options?: ListenOptions): Promise<Address>;
  /** The store that is used, for what else is to live in it. */
  readonly store: TaskStore;
  /** Ends streams between two events, stops agents (`graceMs`, default 2,000, to end by themselves), closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const MAX_BODY = 10 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;

/**
 * Puts agents on the network. `agents`: one agent, or several by the ids under which they are served (`/a2a/{id}`);
 * the first also answers at the root. Nothing happens before `listen` or the first request.
 */
export function createServer(
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions = {},
): Server {
  return new AgentServer(byId(agents), options);
}

class AgentServer implements Server {
  readonly store: TaskStore;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly #options: ServerOptions;
  readonly #context: RouterContext;
  readonly #streams: EventStreams;
  readonly #push: Push | undefined;
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #http: HttpServer | undefined;
  /** All that are open. */
  readonly #sockets = new Set<Socket>();
  #grpc: GrpcDoor | undefined;
  #loopback = false;

  constructor(agents: [string, Agent][], options: ServerOptions) {
    checkOptions(options);
    const { versions = VERSIONS } = options;
    this.#options = options;
    this.store = chooseStore(options.store);
    this.#push = createPush(options.push ?? {}, this.store, options.observer);
    const observer = safely(options.observer ?? {});
    const told: Told = (where, error) => {
      if (!(error instanceof A2AError) || isOurs(error)) observer.onError?.({ where, error });
      return A2AError.from(error);
    };
    this.#streams = new EventStreams(options.heartbeatMs ?? HEARTBEAT_MS, told);
    const hostNames = new HostNames(options.publicUrl);
    const gate = options.authenticate === undefined ? undefined : new Gate(options.authenticate);
    // The URL that paths are appended to.
    const publicUrl = options.publicUrl?.replace(/\/+$/, "");
    const { signing, inputModes, tenants, card, basePath } = options;
    const checkTenant = tenants && checkerOf(tenants);
    const tenant = onlyTenant(tenants);
    const pushNotifications = this.#push !== undefined;
    const about = { gate, publicUrl, tenant, checkTenant, signing, inputModes, pushNotifications };
    const how = { versions, card, ...about };
    const served = this.#serve(agents, how);
    this.#context = {
      agents: served,
      byDefault: served.values().next().value,
      streams: this.#streams,
      revision: options.specRevision ?? "1.0.1",
      versions,
      missingVersion: options.missingVersion ?? "0.3",
      autoMessageId: options.autoMessageId ?? false,
      simple: (options.simple ?? true) && versions.includes("0.3"),
      maxBodyBytes: options.limits?.bodyBytes ?? MAX_BODY,
      authenticate: gate && ((credentials) => gate.admit(credentials)),
      publicUrl,
      keys: publishedKeys(this.#push?.signer, signing),
      admit: (request) => {
        if (this.#loopback && !options.authenticate) hostNames.check(request.header("host") ?? "");
      },
      told,
    };
    // Both need no `this`, so that a host can be given them as they are.
    this.listener = (incoming, outgoing) => {
      const request = new NodeRequest(incoming, basePath === undefined ? undefined : wholeUrl(incoming));
      const neighbour = this.#neighbourAt(request);
      if (neighbour) nodeListener((asked) => this.#askBeside(neighbour, asked, request))(incoming, outgoing);
      else void this.#answer(request).then((reply) => sendNode(reply, request, outgoing));
    };
    this.fetch = async (request) => {
      const given = new FetchRequest(request);
      const neighbour = this.#neighbourAt(given);
      if (neighbour) return await this.#askBeside(neighbour, request, given);
      return toResponse(await this.#answer(given), given);
    };
  }

  async listen({ port = 0, host = "127.0.0.1", grpc = false }: ListenOptions = {}): Promise<Address> {
    checkBind(host, this.#options);
    const grpcOptions = grpc === true ? {} : grpc;
    if (grpcOptions) checkBind(grpcOptions.host ?? host, this.#options);
    // Keys that can not sign are known now, and not when the first signature is due.
    await this.#context.keys?.keys();
    for (const { card } of this.#context.agents.values()) void card.begin();
    await this.#open();
    this.#loopback = isLoopback(host);
    const http = createHttpServer({ keepAliveTimeout: 65_000 }, this.listener);
    this.#http = http;
    http.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(port, host, resolve);
    });
    const address = this.#address(http.address() as AddressInfo, host);
    if (!grpcOptions) return address;
    const { heartbeatMs = HEARTBEAT_MS } = this.#options;
    try {
      this.#grpc = await listenGrpc(this.#context, grpcOptions, { host, port: address.port, heartbeatMs });
    } catch (error) {
      // Half of what was asked for would be found out late.
      await new Promise((resolve) => http.close(resolve));
      throw error;
    }
    return { ...address, grpc: { host: grpcOptions.host ?? host, port: this.#grpc.port } };
  }

  async close({ graceMs = 2000 }: { graceMs?: number } = {}): Promise<void> {
    const http = this.#http;
    // Deadlines keep no process alive, but one that ends before them would leave its tasks as they are.
    const awake = setInterval(() => {}, 2 ** 30);
    const closed = Promise.all([
      new Promise<void>((resolve) => (http ? http.close(() => resolve()) : resolve())),
      this.#grpc?.drain(),
    ]);
    await Promise.all([...this.#context.agents.values()].map(({ engine }) => engine.close(graceMs)));
    const sent = this.#push?.close(graceMs);
    this.#streams.close();
    this.#grpc?.closeStreams();
    http?.closeIdleConnections();
    // To Node those are idle that have asked something; others are opened in advance, and may never ask.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    const cut = setTimeout(() => {
      http?.closeAllConnections();
      this.#grpc?.cut();
    }, graceMs);
    await closed;
    clearTimeout(cut);
    await sent;
    clearInterval(awake);
    if (this.#opening) await this.#opening.then(() => this.store.close());
  }

  #serve(agents: [string, Agent][], how: ServeOptions): Map<string, ServedAgent> {
    const { observer, limits, merge, deduplicate, cancelGraceMs } = this.#options;
    const committer = new Committer(this.store, systemClock);
    const shared = {
      store: this.store,
      committer,
      push: this.#push,
      ...(observer ? { observer } : {}),
      ...(limits ? { limits } : {}),
      ...(merge === undefined ? {} : { merge }),
      ...(deduplicate === undefined ? {} : { deduplicate }),
      ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
    };
    return new Map(
      agents.map(([id, agent]) => [id, serve(id, agent, new Engine({ ...shared, agent, agentId: id }), how)]),
    );
  }

  /** Opens the store once; a failure is told to whoever asked, and tried again by the next. */
  #open(): Promise<void> {
    this.#opening ??= this.#openStore().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openStore(): Promise<void> {
    await this.store.open();
    for (const { engine } of this.#context.agents.values()) await engine.open();
    this.#push?.outbox.open();
    this.#isOpen = true;
  }

  #neighbourAt({ path }: HttpRequest): Beside | undefined {
    const { beside, basePath = "" } = this.#options;
    if (!beside?.length || !path.startsWith(`${basePath}/`)) return undefined;
    const below = path.slice(basePath.length);
    return beside.find((one) => one.takes(below));
  }

  async #askBeside(neighbour: Beside, asked: Request, given: HttpRequest): Promise<Response> {
    try {
      this.#context.admit(given);
      return await neighbour.answer(asked, async () => {
        await this.#open();
        return await enter(given, this.#context);
      });
    } catch (error) {
      const refusal = this.#context.told("beside the agents", error);
      return toResponse(refuseRest(given, this.#context.revision, refusal), given);
    }
  }

  #answer(given: HttpRequest): Promise<HttpReply> {
    const { basePath } = this.#options;
    if (basePath === undefined) return this.#answerAt(given);
    try {
      return this.#answerAt(new MountedRequest(given, basePath));
    } catch (error) {
      return Promise.resolve(refuseRest(given, this.#context.revision, A2AError.from(error)));
    }
  }

  #answerAt(request: HttpRequest): Promise<HttpReply> {
    return this.#isOpen ? route(request, this.#context) : this.#openAndAnswer(request);
  }

  async #openAndAnswer(request: HttpRequest): Promise<HttpReply> {
    try {
      await this.#open();
    } catch (error) {
      this.#context.told("store", error);
      const text = "The server's store can not be opened; its log has the cause.";
      return refuseRest(request, this.#context.revision, new A2AError("UNAVAILABLE", text));
    }
    return await route(request, this.#context);
  }

  #address({ port }: AddressInfo, host: string): Address {
    const name = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host;
    const { basePath = "" } = this.#options;
    const url = this.#context.publicUrl ?? `http://${name}:${port}${basePath}`;
    const agents = [...this.#context.agents.keys()].map((id) => {
      const agentUrl = url + pathOf(id);
      return { id, url: agentUrl, cardUrl: `${agentUrl}/.well-known/agent-card.json` };
    });
    return { url, host, port, agents };
  }
}

/** A failure of the server's that an error tells callers less about than its cause tells us. */
function isOurs({ reason, cause }: A2AError): boolean {
  return cause !== undefined && (reason === "INTERNAL" || reason === "UNAVAILABLE");
}
