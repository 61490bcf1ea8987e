import type { Subscription } from "../../engine/index.ts";
import type {
  GrpcResponse,
  GrpcFailure,
  IncomingCall,
  GrpcMessageSink,
  ServerTls,
} from "../../grpc/index.ts";
import {
  A2AError,
  type AgentInterface,
  type JsonObject,
  type LogEvent,
  type StreamingOperation,
} from "../../protocol/index.ts";
import {
  negotiateVersion,
  toGrpcError,
  v0_3,
  v1,
  type ProtoDialect,
  type ProtocolVersion,
} from "../../wire/index.ts";
import { ANONYMOUS_CALLER, authenticateCaller } from "../auth/authenticate-caller.ts";
import { handleOperation, buildErrorHeaders } from "./request-pipeline.ts";
import { createStreamInterruptedError } from "./event-stream.ts";
import { buildExtensionHeaders } from "../extensions.ts";
import type { RouterContext } from "../router.ts";
import type { ServedAgent } from "../served-agent.ts";

/** Where gRPC is served, beside HTTP. */
export interface GrpcOptions {
  /** 0 (default) takes any free port. */
  readonly port?: number;
  /** Default: the host of HTTP. */
  readonly host?: string;
  /** Certificate and key, as PEM. Without, gRPC is in clear text, which is for this machine or behind a proxy. */
  readonly tls?: ServerTls;
  /** What cards say where gRPC is, `host:port`. Default: the host under which the card was asked for, and the port. */
  readonly publicAddress?: string;
}

/** The gRPC side of a server. */
export interface GrpcServer {
  readonly port: number;
  /** Takes no new calls; resolves when all have ended. */
  drain(): Promise<void>;
  /** Ends streams between two events; their clients subscribe again. */
  closeStreams(): void;
  /** Cuts what is left. */
  forceShutdown(): void;
}

/** The HTTP side of the same server. */
interface HttpServerInfo {
  readonly host: string;
  readonly port: number;
  readonly heartbeatMs: number;
}

/** Listens for gRPC calls (A2A §10). The packages that gRPC takes are loaded only now. */
export async function startGrpcServer(
  context: RouterContext,
  { port = 0, host: given, tls, publicAddress }: GrpcOptions,
  beside: HttpServerInfo,
): Promise<GrpcServer> {
  const host = given ?? beside.host;
  const carrier = await importGrpcModule();
  const services = [carrier.GRPC_SERVICE_V1, carrier.GRPC_SERVICE_V0_3].filter(({ version }) =>
    context.versions.includes(version),
  );
  const calls = new GrpcCallDispatcher(context, beside.port);
  const listener = await carrier
    .startGrpcListener({
      services,
      host,
      port,
      tls,
      keepaliveMs: beside.heartbeatMs,
      maxRequestBytes: context.maxBodyBytes,
      handleCall: (call) => calls.handleCall(call),
    })
    .catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : "unknown";
      const where = carrier.formatHostPort(host, port);
      throw new Error(`gRPC can not listen on ${where} (${why}); choose another port.`, { cause });
    });
  for (const agent of context.agents.values()) {
    const isFirst = agent === context.defaultAgent;
    agent.cardPublisher.setInterfaceProvider((origin, tenant) => {
      const url = publicAddress ?? carrier.formatHostPort(getHostname(origin), listener.port);
      return services.flatMap(({ version }) =>
        buildGrpcInterfaces(version, url, isFirst ? tenant : formatAgentTenant(agent, tenant)),
      );
    });
  }
  return {
    port: listener.port,
    drain: () => listener.drain(),
    closeStreams: () => calls.closeStreams(),
    forceShutdown: () => listener.forceShutdown(),
  };
}

/** How a card names a service; 0.3 has no tenants, so that nobody can be told there to name one. */
function buildGrpcInterfaces(
  protocolVersion: ProtocolVersion,
  url: string,
  tenant: string | undefined,
): AgentInterface[] {
  const common = { url, protocolBinding: "GRPC", protocolVersion };
  if (!tenant) return [common];
  return protocolVersion === "0.3" ? [] : [{ ...common, tenant }];
}

/** What a request has as its tenant that means an agent, and a tenant of its own. */
function formatAgentTenant({ id }: ServedAgent, tenant: string | undefined): string {
  return tenant ? `${id}/${tenant}` : id;
}

function getHostname(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, "");
}

async function importGrpcModule(): Promise<typeof import("../../grpc/index.ts")> {
  try {
    return await import("../../grpc/index.ts");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error("gRPC requires two additional packages: npm install @grpc/grpc-js @bufbuild/protobuf", { cause });
  }
}

const PROTO_DIALECTS: Readonly<Record<ProtocolVersion, ProtoDialect>> = {
  "1.0": v1.protoDialect,
  "0.3": v0_3.protoDialect,
};

/**
 * The gRPC binding: one call, one operation. Under what name a caller reached it is not asked: no page in a browser can
 * make a call of gRPC.
 */
class GrpcCallDispatcher {
  readonly #context: RouterContext;
  readonly #httpPort: number;
  readonly #openSubscriptions = new Set<Subscription>();
  /** The bytes of events: written once for all readers of a version. */
  readonly #encodedEvents: Readonly<Record<ProtocolVersion, WeakMap<LogEvent, Uint8Array>>> = {
    "1.0": new WeakMap(),
    "0.3": new WeakMap(),
  };

  constructor(context: RouterContext, httpPort: number) {
    this.#context = context;
    this.#httpPort = httpPort;
  }

  closeStreams(): void {
    for (const subscription of this.#openSubscriptions) subscription.close();
  }

  /** Never rejects. */
  async handleCall(call: IncomingCall): Promise<GrpcResponse> {
    try {
      return await this.#executeCall(call);
    } catch (error) {
      return { failure: this.#toFailure("gRPC", error, call.service.version) };
    }
  }

  async #executeCall(call: IncomingCall): Promise<GrpcResponse> {
    const { method, service } = call;
    const request = {
      method: "POST",
      path: method.path,
      query: "",
      origin: this.#resolveHttpOrigin(call),
      header: (name: string) => call.header(name),
      certificate: () => call.certificate(),
    };
    const { authenticate } = this.#context;
    const caller = authenticate ? await authenticateCaller(request, authenticate) : ANONYMOUS_CALLER;
    const version = negotiateCallVersion(call);
    const dialect = PROTO_DIALECTS[service.version];
    const { agent, params } = this.#resolveAgent(decodeRequest(call));
    const outcome = await handleOperation({ request, agent, caller }, method.operation, {
      codec: dialect,
      version,
      params,
    });
    const headers = buildExtensionHeaders(outcome.activatedExtensions, version);
    if ("stream" in outcome) {
      const { stream } = outcome;
      return { headers, body: (sink) => void this.#writeEvents(stream, call, sink) };
    }
    return {
      headers,
      body: method.response.encode(dialect.toResultMessage(method.operation, outcome.result)),
    };
  }

  /** Where HTTP is for who reached this server over gRPC. */
  #resolveHttpOrigin(call: IncomingCall): string {
    const host = `http://${call.header("host") ?? ""}`;
    const { hostname } = new URL(URL.canParse(host) ? host : "http://127.0.0.1");
    return this.#context.publicUrl ?? `http://${hostname}:${this.#httpPort}`;
  }

  /** The agent that is meant. A gRPC address has no path, so the tenant names any agent but the first, as its card says. */
  #resolveAgent(params: JsonObject): { agent: ServedAgent; params: JsonObject } {
    const { agents, defaultAgent: byDefault } = this.#context;
    const [id = "", ...tenant] = typeof params["tenant"] === "string" ? params["tenant"].split("/") : [];
    const agent = agents.get(id);
    if (agent && agent !== byDefault) return { agent, params: { ...params, tenant: tenant.join("/") } };
    if (byDefault) return { agent: byDefault, params };
    throw new A2AError("NOT_FOUND", "There is no agent here.");
  }

  /** Writes a subscription's events as fast as the client takes them. */
  async #writeEvents(
    subscription: Subscription,
    { service, method }: IncomingCall,
    sink: GrpcMessageSink,
  ): Promise<void> {
    this.#openSubscriptions.add(subscription);
    sink.onClose(() => subscription.close());
    const dialect = PROTO_DIALECTS[service.version];
    const operation = method.operation as StreamingOperation;
    const written = this.#encodedEvents[service.version];
    try {
      for (;;) {
        const events = await subscription.next();
        if (!events) break;
        let room: Promise<void> | undefined;
        for (const event of events) {
          let binary = written.get(event);
          if (!binary)
            written.set(
              event,
              (binary = method.response.encode(dialect.toResultMessage(operation, event.event))),
            );
          room = sink.write(binary);
          if (dialect.isLastEvent?.(event, operation)) return sink.end();
        }
        if (room) await room;
      }
      if (!subscription.isComplete) throw createStreamInterruptedError();
      sink.end();
    } catch (error) {
      sink.end(this.#toFailure("stream", error, service.version));
    } finally {
      subscription.close();
      this.#openSubscriptions.delete(subscription);
    }
  }

  #toFailure(where: string, error: unknown, version: ProtocolVersion): GrpcFailure {
    const { reportError: told, specRevision: revision } = this.#context;
    const refused = told(where, error);
    const failure = version === "0.3" ? v0_3.toGrpcError(refused) : toGrpcError(refused, revision);
    return { ...failure, headers: buildErrorHeaders(refused) };
  }
}

/** The name of the service says the version; metadata may say it again, but nothing else (A2A §3.6.2). */
function negotiateCallVersion(call: IncomingCall): ProtocolVersion {
  const { version } = call.service;
  return negotiateVersion({
    header: call.header("a2a-version"),
    query: null,
    supported: [version],
    whenMissing: "infer",
    inferredVersion: version,
  });
}

/** The request as ProtoJSON. */
function decodeRequest({ method: { request }, requestBytes: binary }: IncomingCall): JsonObject {
  try {
    return request.decode(binary);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown";
    const text = `The request is no ${request.name} (${why}); encode it with the specification's a2a.proto.`;
    throw new A2AError("PARSE_ERROR", text, { cause });
  }
}
