import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import {
  Committer,
  Engine,
  safely,
  systemClock,
  type Agent,
  type EngineLimits,
  type Observer,
  type TaskStore,
} from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import type { ProtocolVersion, SpecRevision } from "../wire/index.ts";
import { Gate, type Authentication } from "./auth/authentication.ts";
import type { CardShape } from "./card/card-shape.ts";
import { signingKeys, type CardSigning } from "./card/card-signing.ts";
import { EventStreams, type Told } from "./bindings/event-stream.ts";
import type { HttpReply, HttpRequest } from "./exchange.ts";
import { createPush, type Push, type PushOptions } from "./push/push.ts";
import type { PushSigner } from "./push/signature.ts";
import { FetchRequest, toResponse } from "./fetch.ts";
import { listenGrpc, type GrpcDoor, type GrpcOptions } from "./bindings/grpc.ts";
import { NodeRequest, sendNode } from "./node.ts";
import { checkBind, HostNames, isLoopback } from "./loopback.ts";
import { chooseStore, type StoreChoice } from "./open-store.ts";
import { refuseRest } from "./bindings/rest.ts";
import { route, type RouterContext } from "./router.ts";
import { checkerOf, onlyTenant, type Tenants } from "./tenants.ts";
import { byId, pathOf, serve, type ServedAgent, type ServeOptions } from "./served-agent.ts";

/** Bounds of a server; each has a default that suits one process. */
export interface ServerLimits extends Partial<EngineLimits> {
  /** Largest request body, in bytes. Default 10 MiB. */
  readonly bodyBytes?: number;
}

export interface ServerOptions {
  /** Where tasks live. Default `sqlite:.colloquy/colloquy.db`: durable, in the working directory. */
  readonly store?: StoreChoice;
  /** The versions of A2A that are spoken, the preferred one first. Default 1.0 and 0.3. */
  readonly versions?: readonly ProtocolVersion[];
  /**
   * The card for those who do not say their version: one of them, or `hybrid`, one object that readers of both
   * understand. Default `hybrid` where both versions are spoken. Whoever sends `A2A-Version` gets that version's card.
   */
  readonly card?: CardShape;
  /** Which patch of A2A 1.0 the REST media type and status table follow. Default 1.0.1. */
  readonly specRevision?: SpecRevision;
  /** What a request without `A2A-Version` means: `0.3`, as the specification says (default), or what it looks like. */
  readonly missingVersion?: "0.3" | "infer";
  /**
   * Give a message that comes without a `messageId` a new one, for clients that leave out what A2A §4.1.4 requires; such a
   * message is never known again when it is sent twice. Default false: it is refused.
   */
  readonly autoMessageId?: boolean;
  /** Serve the simple dialect to requests of 0.3 that are not 0.3's but its own. Default true. */
  readonly simple?: boolean;
  /**
   * Where clients reach this server, for example `https://example.com/agents` for a proxy that takes `/agents` off the
   * path. Default: as each request says.
   */
  readonly publicUrl?: string;
  /**
   * Whether a message part of a media type that the agent does not declare (`defaultInputModes`, `inputModes` of its
   * skills) is refused, as A2A §3.1.1 has it (default), or left to the agent. An agent that declares none gets everything.
   */
  readonly inputModes?: "enforce" | "ignore";
  /**
   * Signs the cards, with every key that is given (A2A §8.4): a new one beside the old while clients change over. The
   * public keys stand at `/.well-known/jwks.json`.
   */
  readonly signing?: CardSigning | readonly CardSigning[];
  /**
   * Says who asks: a function, or one or several of what `colloquy/auth` makes, which the agents' cards then declare.
   * Without it everybody is the same caller, and only loopback is listened on.
   */
  readonly authenticate?: Authentication;
  /** The tenants that are served; others are NOT_FOUND. Default: any, each by itself. */
  readonly tenants?: Tenants;
  /**
   * How push notifications are sent; false sends none. Default: to webhooks on the public internet only, retried for a
   * day, unsigned.
   */
  readonly push?: PushOptions | false;
  /** Listen beyond loopback without authentication. Default false. */
  readonly allowUnauthenticated?: boolean;
  readonly limits?: ServerLimits;
  readonly observer?: Observer;
  /** Merge chunks of text that wait for the same commit. Default true. */
  readonly merge?: boolean;
  /**
   * Recognise a message that is sent again, by its id: the same task, not a second one (A2A §3.3.1). Default true. Turn it
   * off for clients that use an id for different messages, as the A2A TCK does.
   */
  readonly deduplicate?: boolean;
  /** Silence on a stream after which a comment is sent (over gRPC: a ping), in milliseconds. Default 15,000; 0 sends none. */
  readonly heartbeatMs?: number;
  /** How long a cancelled agent may take to stop, in milliseconds. Default 5,000. */
  readonly cancelGraceMs?: number;
}

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
  fetch(request: Request): Promise<Response>;
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
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly #options: ServerOptions;
  readonly #context: RouterContext;
  readonly #streams: EventStreams;
  readonly #push: Push | undefined;
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #http: HttpServer | undefined;
  #grpc: GrpcDoor | undefined;
  #loopback = false;

  constructor(agents: [string, Agent][], options: ServerOptions) {
    const versions = checkVersions(options.versions);
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
    const publicUrl = options.publicUrl === undefined ? undefined : withoutSlash(options.publicUrl);
    const { signing, inputModes, tenants, card } = options;
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
      keys: keysOf(this.#push?.signer, signing),
      admit: (request) => {
        if (this.#loopback && !options.authenticate) hostNames.check(request.header("host") ?? "");
      },
      told,
    };
    this.listener = (incoming, outgoing) => {
      const request = new NodeRequest(incoming);
      void this.#answer(request).then((reply) => sendNode(reply, request, outgoing));
    };
  }

  async fetch(request: Request): Promise<Response> {
    const given = new FetchRequest(request);
    return toResponse(await this.#answer(given), given);
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

  #answer(request: HttpRequest): Promise<HttpReply> {
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
    const url = this.#context.publicUrl ?? `http://${name}:${port}`;
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

/** For callers without types, too. */
function checkVersions(versions: readonly ProtocolVersion[] = ["1.0", "0.3"]): readonly ProtocolVersion[] {
  if (versions.length > 0 && versions.every((version) => version === "1.0" || version === "0.3"))
    return versions;
  throw new Error(`versions is ${JSON.stringify(versions)}; give at least one of "1.0" and "0.3".`);
}

/** The public keys of all that is signed here; undefined when nothing is. */
function keysOf(push: PushSigner | undefined, signing: ServerOptions["signing"]): RouterContext["keys"] {
  if (!push && !signing) return undefined;
  const keys = async (): Promise<object> => {
    const sets = await Promise.all([push?.keys(), signing && signingKeys(signing)]);
    return { keys: sets.flatMap((set) => set?.keys ?? []) };
  };
  return { keys };
}

/** The URL that paths are appended to. */
function withoutSlash(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}
