import * as v0_3 from "../../wire/v0_3/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import { FairTurnQueue, Quota } from "../../base/data-structures/index.ts";
import type { Caller, Subscription } from "../../engine/index.ts";
import type {
  GrpcResponseOrFailure,
  GrpcFailure,
  GrpcMethod,
  GrpcServerCall,
  ServerTls,
} from "../../wire/grpc/index.ts";
import {
  A2AError,
  type AgentInterface,
  type EventEncoder,
  type JsonObject,
  type StreamingOperation,
} from "../../protocol/index.ts";
import { toGrpcError, type PeerLeniency, type ProtoDialect, type ProtocolVersion } from "../../wire/index.ts";
import { authenticateCaller } from "../auth/authenticator.ts";
import { createConnectionGuard } from "../guarded-http-server.ts";
import type { WriteStallWatch } from "../byte-ledger/write-stall-watch.ts";
import { buildErrorHeaders } from "./request-pipeline.ts";
import { decodeRequest, GrpcRequest, negotiateCallVersion } from "./grpc-request.ts";
import { createStreamInterruptedError, SERVER_CLOSED_STREAM } from "./event-stream.ts";
import { getAddressHolderKey } from "../remote-address.ts";
import { reportRequest } from "../instrument/operation-watch.ts";
import { findAgentById, type RouterContext } from "../router.ts";
import type { ServedAgent } from "../served-agent.ts";
import type { ByteAccount } from "../byte-ledger/byte-ledger.ts";

/** Options for the gRPC listener of a server. The gRPC listener runs in addition to the HTTP listener. */
export interface GrpcOptions {
  /** Port of the gRPC listener. Port 0, the default, selects any free port. */
  readonly port?: number;
  /**
   * Host name or IP address that the gRPC listener listens on. The default host is the host of the HTTP
   * listener.
   */
  readonly host?: string;
  /**
   * TLS certificate and key of the gRPC listener, in PEM format. By default, the gRPC listener does not use
   * TLS. Clients on other machines should then reach the listener only through a proxy that terminates TLS.
   */
  readonly tls?: ServerTls;
  /**
   * Address of the gRPC listener in agent cards, in the form `host:port`. By default, the address consists of
   * the host from the agent card request and the port of the gRPC listener.
   */
  readonly publicAddress?: string;
  /**
   * Whether agent cards contain the gRPC interfaces. ADK for Python rejects every agent card with a gRPC
   * interface, because the address of the interface is not an HTTP URL. If `listedInCard` is false, clients
   * must know the address of the gRPC listener. Default: true.
   */
  readonly listedInCard?: boolean;
  /**
   * Maximum number of open gRPC connections. Each remote address has a fair share, so a single address can open half of
   * the connections. Default: 1,000.
   */
  readonly connections?: number;
  /**
   * Maximum number of open gRPC calls. A call counts for the remote address until the call is authenticated, and then
   * for its caller. A single one can have half of the calls open. Default: 10,000.
   */
  readonly calls?: number;
}

export interface GrpcServer {
  readonly port: number;
  /** Adds the gRPC interfaces to the cards of the served agents, unless gRPC is unlisted. */
  listInCards(): void;
  /** Stops accepting gRPC calls, and resolves when all gRPC calls have ended. */
  drain(): Promise<void>;
  /** Ends every gRPC stream, but never in the middle of an event. Clients are expected to subscribe again. */
  closeStreams(): void;
  /** Cancels all remaining gRPC calls. */
  forceShutdown(): void;
}

interface HttpServerInfo {
  readonly host: string;
  readonly port: number;
  readonly heartbeatMs: number;
  readonly stallWatch: WriteStallWatch;
}

/**
 * Number of calls that one turn of the event loop starts. Starting a call takes 0.1 to 0.5 ms. The value is small, because
 * Node.js accepts one connection of each listener per turn, so that long turns delay new clients.
 */
const CALLS_PER_TURN = 4;

const DEFAULT_MAX_CONNECTIONS = 1_000;
const DEFAULT_MAX_CALLS = 10_000;
/** Time in milliseconds in which a request message must arrive, as for HTTP requests. */
const RECEIVE_REQUEST_MS = 120_000;

/** Maximum number of bytes of events that the server writes at once, unless one event is larger. */
const MAX_WRITE_BYTES = 64 * 1024;

/** Starts the gRPC listener (A2A §10), and imports the optional gRPC packages. */
export async function startGrpcServer(
  context: RouterContext,
  httpServer: HttpServerInfo,
  { port = 0, host = httpServer.host, tls, publicAddress, listedInCard = true, ...options }: GrpcOptions,
): Promise<GrpcServer> {
  const grpcModule = await importGrpcModule();
  const services = [grpcModule.GRPC_SERVICE_V1, grpcModule.GRPC_SERVICE_V0_3].filter(({ version }) =>
    context.versions.includes(version),
  );
  const dispatcher = new GrpcCallDispatcher(context, httpServer, options.calls ?? DEFAULT_MAX_CALLS);
  const callQueue = new FairTurnQueue(CALLS_PER_TURN);
  const listener = await grpcModule
    .startGrpcListener({
      services,
      host,
      port,
      tls,
      keepaliveMs: httpServer.heartbeatMs,
      maxRequestBytes: context.maxBodyBytes,
      receiveMs: RECEIVE_REQUEST_MS,
      guardConnection: createConnectionGuard(options.connections ?? DEFAULT_MAX_CONNECTIONS, (socket) =>
        socket.destroy(),
      ),
      scheduleCall: (remoteAddress, start) => callQueue.start(getAddressHolderKey(remoteAddress), start),
      handleCall: !context.instrument.observer.onRequest
        ? (call) => dispatcher.handleCall(call)
        : (call) =>
            reportRequest(
              context.instrument.observer,
              { method: "gRPC", path: call.method.path, header: (name) => call.header(name) },
              (reply) => ("failure" in reply ? reply.failure.status : "OK"),
              () => dispatcher.handleCall(call),
            ),
    })
    .catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : "unknown";
      const address = grpcModule.formatHostPort(host, port);
      throw new Error(`The gRPC listener failed to start on ${address} (${why}); choose another port.`, {
        cause,
      });
    });
  const listInCards = (): void => {
    for (const agent of listedInCard ? context.agents.values() : []) {
      const isFirst = agent === context.defaultAgent;
      agent.cardPublisher.setAdditionalInterfaceProvider((origin, tenant) => {
        const url = publicAddress ?? `${new URL(origin).hostname}:${listener.port}`;
        return services.flatMap(({ version }) =>
          buildGrpcInterfaces(version, url, isFirst ? tenant : formatAgentSelectingTenant(agent, tenant)),
        );
      });
    }
  };
  listInCards();
  return {
    port: listener.port,
    listInCards,
    drain: () => listener.drain(),
    closeStreams: () => dispatcher.closeStreams(),
    forceShutdown: () => listener.forceShutdown(),
  };
}

async function importGrpcModule(): Promise<typeof import("../../wire/grpc/index.ts")> {
  try {
    return await import("../../wire/grpc/index.ts");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error("gRPC requires two additional packages: npm install @grpc/grpc-js @bufbuild/protobuf", {
      cause,
    });
  }
}

function selectProtoDialect(call: GrpcServerCall, leniency: PeerLeniency): ProtoDialect {
  return call.service.version === "1.0"
    ? v1.protoDialect
    : v0_3.selectProtoDialect(call.header("user-agent"), leniency);
}

/** The state of a call, for the report of its failure. */
interface CallProgress {
  caller?: Caller;
  /** Whether the request has been decoded, so that the traffic record contains the operation. */
  hasOperation: boolean;
}

/**
 * Performs the A2A operations that clients call over gRPC. DNS rebinding is not a risk for gRPC, because web
 * pages in a browser cannot make gRPC calls.
 */
class GrpcCallDispatcher {
  readonly #context: RouterContext;
  readonly #httpServer: HttpServerInfo;
  readonly #openCalls: Quota;
  readonly #openSubscriptions = new Set<Subscription>();
  readonly #eventEncoders = new Map<ProtoDialect, EventEncoder<Uint8Array>>();

  constructor(context: RouterContext, httpServer: HttpServerInfo, maxCalls: number) {
    this.#context = context;
    this.#httpServer = httpServer;
    this.#openCalls = createCallQuota(maxCalls);
  }

  closeStreams(): void {
    for (const subscription of this.#openSubscriptions) subscription.close(SERVER_CLOSED_STREAM);
  }

  /** Handles a gRPC call. Never rejects, because every error becomes a gRPC failure response. */
  async handleCall(call: GrpcServerCall): Promise<GrpcResponseOrFailure> {
    const startMs = this.#context.instrument.recordRefusal ? performance.now() : 0;
    const account = new GrpcCallAccount(this.#context.byteLedger.openAccount(call), this.#openCalls);
    call.onClose(() => account.close());
    const progress: CallProgress = { hasOperation: false };
    try {
      return await this.#executeCall(call, account, progress);
    } catch (thrown) {
      const failure = this.#toFailure("gRPC", thrown, call.service.version);
      if (!progress.hasOperation)
        this.#context.instrument.recordRefusal?.({
          request: { path: call.method.path, header: (name) => call.header(name) },
          operation: call.method.operation,
          binding: "GRPC",
          agentId: this.#context.defaultAgent?.id,
          caller: progress.caller,
          status: failure.status,
          error: A2AError.from(thrown),
          startMs,
        });
      return { failure };
    } finally {
      // The operation may have reserved more after the client disconnected.
      if (call.isClosed) account.close();
    }
  }

  async #executeCall(
    call: GrpcServerCall,
    account: GrpcCallAccount,
    progress: CallProgress,
  ): Promise<GrpcResponseOrFailure> {
    account.open();
    const { method } = call;
    const { byteAccount } = account;
    const request = new GrpcRequest(call, byteAccount, this.#context.publicUrl, this.#httpServer.port);
    const caller = await authenticateCaller(request, this.#context.authenticate);
    account.assignToCaller(caller);
    progress.caller = caller;
    const version = negotiateCallVersion(call);
    const { peerLeniency } = this.#context;
    const dialect = selectProtoDialect(call, peerLeniency);
    // The listener reads the message only now: a client without credentials cannot make the server store it.
    const bytes = await call.receiveRequest((size) => byteAccount.reserveBodyBytes(size));
    const { agent, params } = this.#resolveAgent(decodeRequest(method, bytes, this.#context.maxJsonValues));
    byteAccount.releaseBodyBytes();
    progress.hasOperation = true;
    const operation = { codec: dialect, binding: "GRPC", version, params, peerLeniency } as const;
    const outcome = await this.#context.handleOperation(
      { request, agent, caller },
      method.operation,
      operation,
    );
    const { headers } = outcome;
    const watchWrite = (disconnect: () => void): (() => void) =>
      this.#httpServer.stallWatch.watch(byteAccount.holder, disconnect);
    if ("stream" in outcome) {
      const { stream } = outcome;
      return { headers, watchWrite, body: () => void this.#writeEvents(stream, call, dialect, account) };
    }
    const body = method.response.encode(dialect.toProtoResponseMessage(method.operation, outcome.result));
    byteAccount.reserveResponseText(body.length);
    return { headers, watchWrite, body };
  }

  /**
   * Returns the agent that a gRPC request addresses. A gRPC address has no path, so `tenant` selects the
   * agent. If `tenant` contains no known agent id, the result is the default agent.
   */
  #resolveAgent(params: JsonObject): { agent: ServedAgent; params: JsonObject } {
    const { defaultAgent } = this.#context;
    const [id = "", ...tenant] = typeof params["tenant"] === "string" ? params["tenant"].split("/") : [];
    const agent = findAgentById(id, this.#context);
    if (agent && agent !== defaultAgent) return { agent, params: { ...params, tenant: tenant.join("/") } };
    if (defaultAgent) return { agent: defaultAgent, params };
    throw new A2AError("NOT_FOUND", "This server has no agent; check the address of the server.");
  }

  /** Writes the events of a subscription to a gRPC call, as fast as the client reads them. */
  async #writeEvents(
    subscription: Subscription,
    call: GrpcServerCall,
    dialect: ProtoDialect,
    account: GrpcCallAccount,
  ): Promise<void> {
    this.#openSubscriptions.add(subscription);
    call.onClose((interruption) => subscription.close(interruption));
    const operation = call.method.operation as StreamingOperation;
    const encoder = this.#getEventEncoder(dialect, call.method);
    let messages: Uint8Array[] = [];
    let size = 0;
    const flush = (): Promise<void> | undefined => {
      account.reserveUnreadBytes(call.unreadBytes + size);
      const drained = call.write(messages);
      messages = [];
      size = 0;
      return drained;
    };
    try {
      if (call.hasEnded) return;
      for (let events = await subscription.next(); events; events = await subscription.next()) {
        for (const event of events) {
          const message = event.encodeWith(encoder);
          if (size > 0 && size + message.length > MAX_WRITE_BYTES) await flush();
          messages.push(message);
          size += message.length;
          if (dialect.isLastEvent?.(event, operation)) {
            void flush();
            return call.end();
          }
        }
        const drained = flush();
        if (drained) await drained;
      }
      if (!subscription.isComplete) throw createStreamInterruptedError();
      call.end();
    } catch (error) {
      subscription.close({ reason: "cut", error: A2AError.from(error).reason });
      call.end(this.#toFailure("stream", error, call.service.version));
    } finally {
      subscription.close();
      this.#openSubscriptions.delete(subscription);
      if (call.isClosed) account.close();
    }
  }

  /** Returns the encoder of a dialect. It stays the same, so that each event is encoded once for all its readers. */
  #getEventEncoder(dialect: ProtoDialect, { operation, response }: GrpcMethod): EventEncoder<Uint8Array> {
    let encoder = this.#eventEncoders.get(dialect);
    if (!encoder) {
      encoder = (event) => response.encode(dialect.toProtoResponseMessage(operation, event));
      this.#eventEncoders.set(dialect, encoder);
    }
    return encoder;
  }

  #toFailure(where: string, error: unknown, version: ProtocolVersion): GrpcFailure {
    const { reportError, specRevision } = this.#context;
    const a2aError = reportError(where, error);
    const failure = version === "0.3" ? v0_3.toGrpcError(a2aError) : toGrpcError(a2aError, specRevision);
    return { ...failure, headers: buildErrorHeaders(a2aError) };
  }
}

/**
 * Returns the gRPC interfaces of one A2A version. A2A 0.3 interfaces cannot contain a tenant. If a tenant is
 * required, the result for A2A 0.3 is therefore empty.
 */
function buildGrpcInterfaces(
  protocolVersion: ProtocolVersion,
  url: string,
  tenant: string | undefined,
): AgentInterface[] {
  const common = { url, protocolBinding: "GRPC", protocolVersion };
  if (!tenant) return [common];
  return protocolVersion === "0.3" ? [] : [{ ...common, tenant }];
}

/**
 * Returns the `tenant` value that selects an agent in gRPC calls. The value consists of the agent id and the
 * optional tenant name.
 */
function formatAgentSelectingTenant({ id }: ServedAgent, tenant: string | undefined): string {
  return tenant ? `${id}/${tenant}` : id;
}

/**
 * Bytes that an address must have free to start a call. HTTP/2 accepts 32 KiB of a message before the server reads
 * the message.
 */
const UNREAD_REQUEST_BYTES = 32 * 1024;

/** Creates the quota of the calls that all clients of a gRPC listener have open. `maxCalls` is the option `calls`. */
function createCallQuota(maxCalls: number): Quota {
  return new Quota({
    capacity: maxCalls,
    createError: (refusal, holder) => {
      const ofHolder = holder.startsWith("caller ") ? "This caller has" : "This remote address has";
      const whose = refusal === "capacity" ? "All clients have" : ofHolder;
      const limit = maxCalls.toLocaleString("en");
      const text = `${whose} too many open gRPC calls ("grpc.calls" of listen is ${limit}, shared fairly); end some calls, and try again in a second.`;
      return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
    },
  });
}

/**
 * Accounts for one gRPC call: for the remote address until the call is authenticated, and then for its caller. The
 * methods throw RESOURCE_EXHAUSTED if the share of the holder is used up.
 */
class GrpcCallAccount {
  readonly byteAccount: ByteAccount;
  readonly #openCalls: Quota;
  #releaseCall: () => void = () => {};

  constructor(byteAccount: ByteAccount, openCalls: Quota) {
    this.byteAccount = byteAccount;
    this.#openCalls = openCalls;
  }

  /** Starts to account for the call, before anything else happens. */
  open(): void {
    this.#releaseCall = this.#openCalls.acquire(this.byteAccount.holderKey);
    this.byteAccount.reserveBodyBytes(UNREAD_REQUEST_BYTES);
  }

  /** Makes an authenticated caller the holder. Anonymous callers stay represented by the remote address. */
  assignToCaller(caller: Caller): void {
    if (caller.principal === "") return;
    this.#releaseCall();
    this.byteAccount.releaseBodyBytes();
    this.byteAccount.assignToCaller(caller);
    this.open();
  }

  /** Replaces the number of bytes that are written to a stream and not yet taken by the client. */
  reserveUnreadBytes(bytes: number): void {
    if (!this.byteAccount.tryReservePendingBytes(bytes)) throw this.byteAccount.createRefusal("responses");
  }

  /** Returns everything. */
  close(): void {
    this.#releaseCall();
    this.byteAccount.close();
  }
}
