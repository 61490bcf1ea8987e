import type { Subscription } from "../../engine/index.ts";
import type { Answer, Failure, IncomingCall, MessageSink, ServerTls } from "../../grpc/index.ts";
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
import { ANYBODY, callerOf } from "../auth/caller.ts";
import { carryOut, refusalHeaders } from "./binding.ts";
import { cut } from "./event-stream.ts";
import { extensionHeaders } from "../extensions.ts";
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
export interface GrpcDoor {
  readonly port: number;
  /** Takes no new calls; resolves when all have ended. */
  drain(): Promise<void>;
  /** Ends streams between two events; their clients subscribe again. */
  closeStreams(): void;
  /** Cuts what is left. */
  cut(): void;
}

/** The HTTP side of the same server. */
interface Beside {
  readonly host: string;
  readonly port: number;
  readonly heartbeatMs: number;
}

/** Listens for gRPC calls (A2A §10). The packages that gRPC takes are loaded only now. */
export async function listenGrpc(
  context: RouterContext,
  { port = 0, host: given, tls, publicAddress }: GrpcOptions,
  beside: Beside,
): Promise<GrpcDoor> {
  const host = given ?? beside.host;
  const carrier = await loadCarrier();
  const services = [carrier.v1, carrier.v0_3].filter(({ version }) => context.versions.includes(version));
  const calls = new GrpcCalls(context, beside.port);
  const listener = await carrier
    .listen({
      services,
      host,
      port,
      tls,
      keepaliveMs: beside.heartbeatMs,
      maxRequestBytes: context.maxBodyBytes,
      answer: (call) => calls.answer(call),
    })
    .catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : "unknown";
      const where = carrier.addressOf(host, port);
      throw new Error(`gRPC can not listen on ${where} (${why}); choose another port.`, { cause });
    });
  for (const agent of context.agents.values()) {
    const isFirst = agent === context.byDefault;
    agent.card.offer((origin, tenant) => {
      const url = publicAddress ?? carrier.addressOf(hostOf(origin), listener.port);
      return services.flatMap(({ version }) =>
        interfaceOf(version, url, isFirst ? tenant : pathTo(agent, tenant)),
      );
    });
  }
  return {
    port: listener.port,
    drain: () => listener.drain(),
    closeStreams: () => calls.closeStreams(),
    cut: () => listener.cut(),
  };
}

/** How a card names a service; 0.3 has no tenants, so that nobody can be told there to name one. */
function interfaceOf(
  protocolVersion: ProtocolVersion,
  url: string,
  tenant: string | undefined,
): AgentInterface[] {
  const common = { url, protocolBinding: "GRPC", protocolVersion };
  if (!tenant) return [common];
  return protocolVersion === "0.3" ? [] : [{ ...common, tenant }];
}

/** What a request has as its tenant that means an agent, and a tenant of its own. */
function pathTo({ id }: ServedAgent, tenant: string | undefined): string {
  return tenant ? `${id}/${tenant}` : id;
}

function hostOf(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, "");
}

async function loadCarrier(): Promise<typeof import("../../grpc/index.ts")> {
  try {
    return await import("../../grpc/index.ts");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error("gRPC needs two packages more: npm install @grpc/grpc-js @bufbuild/protobuf", { cause });
  }
}

const DIALECTS: Readonly<Record<ProtocolVersion, ProtoDialect>> = { "1.0": v1.proto, "0.3": v0_3.proto };

/**
 * The gRPC binding: one call, one operation. Under what name a caller reached it is not asked: no page in a browser can
 * make a call of gRPC.
 */
class GrpcCalls {
  readonly #context: RouterContext;
  readonly #httpPort: number;
  readonly #open = new Set<Subscription>();
  /** The bytes of events: written once for all readers of a version. */
  readonly #written: Readonly<Record<ProtocolVersion, WeakMap<LogEvent, Uint8Array>>> = {
    "1.0": new WeakMap(),
    "0.3": new WeakMap(),
  };

  constructor(context: RouterContext, httpPort: number) {
    this.#context = context;
    this.#httpPort = httpPort;
  }

  closeStreams(): void {
    for (const subscription of this.#open) subscription.close();
  }

  /** Never rejects. */
  async answer(call: IncomingCall): Promise<Answer> {
    try {
      return await this.#carryOut(call);
    } catch (error) {
      return { failure: this.#failure("gRPC", error, call.service.version) };
    }
  }

  async #carryOut(call: IncomingCall): Promise<Answer> {
    const { method, service } = call;
    const request = {
      method: "POST",
      path: method.path,
      query: "",
      origin: this.#originOf(call),
      header: (name: string) => call.header(name),
      certificate: () => call.certificate(),
    };
    const { authenticate } = this.#context;
    const caller = authenticate ? await callerOf(request, authenticate) : ANYBODY;
    const version = versionOf(call);
    const dialect = DIALECTS[service.version];
    const { agent, params } = this.#addressed(decode(call));
    const outcome = await carryOut({ request, agent, caller }, method.operation, {
      codec: dialect,
      version,
      params,
    });
    const headers = extensionHeaders(outcome.activated, version);
    if ("stream" in outcome) {
      const { stream } = outcome;
      return { headers, body: (sink) => void this.#pump(stream, call, sink) };
    }
    return { headers, body: method.response.encode(dialect.toResult(method.operation, outcome.result)) };
  }

  /** Where HTTP is for who reached this server over gRPC. */
  #originOf(call: IncomingCall): string {
    const host = `http://${call.header("host") ?? ""}`;
    const { hostname } = new URL(URL.canParse(host) ? host : "http://127.0.0.1");
    return this.#context.publicUrl ?? `http://${hostname}:${this.#httpPort}`;
  }

  /** The agent that is meant. A gRPC address has no path, so the tenant names any agent but the first, as its card says. */
  #addressed(params: JsonObject): { agent: ServedAgent; params: JsonObject } {
    const { agents, byDefault } = this.#context;
    const [id = "", ...tenant] = typeof params["tenant"] === "string" ? params["tenant"].split("/") : [];
    const agent = agents.get(id);
    if (agent && agent !== byDefault) return { agent, params: { ...params, tenant: tenant.join("/") } };
    if (byDefault) return { agent: byDefault, params };
    throw new A2AError("NOT_FOUND", "There is no agent here.");
  }

  /** Writes a subscription's events as fast as the client takes them. */
  async #pump(
    subscription: Subscription,
    { service, method }: IncomingCall,
    sink: MessageSink,
  ): Promise<void> {
    this.#open.add(subscription);
    sink.onClose(() => subscription.close());
    const dialect = DIALECTS[service.version];
    const operation = method.operation as StreamingOperation;
    const written = this.#written[service.version];
    try {
      for (;;) {
        const events = await subscription.next();
        if (!events) break;
        let room: Promise<void> | undefined;
        for (const event of events) {
          let binary = written.get(event);
          if (!binary)
            written.set(event, (binary = method.response.encode(dialect.toResult(operation, event.event))));
          room = sink.write(binary);
          if (dialect.isLast?.(event, operation)) return sink.end();
        }
        if (room) await room;
      }
      if (!subscription.complete) throw cut();
      sink.end();
    } catch (error) {
      sink.end(this.#failure("stream", error, service.version));
    } finally {
      subscription.close();
      this.#open.delete(subscription);
    }
  }

  #failure(where: string, error: unknown, version: ProtocolVersion): Failure {
    const { told, revision } = this.#context;
    const refused = told(where, error);
    const failure = version === "0.3" ? v0_3.toGrpcError(refused) : toGrpcError(refused, revision);
    return { ...failure, headers: refusalHeaders(refused) };
  }
}

/** The name of the service says the version; metadata may say it again, but nothing else (A2A §3.6.2). */
function versionOf(call: IncomingCall): ProtocolVersion {
  const { version } = call.service;
  return negotiateVersion({
    header: call.header("a2a-version"),
    query: null,
    supported: [version],
    missing: "infer",
    shape: version,
  });
}

/** The request as ProtoJSON. */
function decode({ method: { request }, binary }: IncomingCall): JsonObject {
  try {
    return request.decode(binary);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown";
    const text = `The request is no ${request.name} (${why}); encode it with the specification's a2a.proto.`;
    throw new A2AError("PARSE_ERROR", text, { cause });
  }
}
