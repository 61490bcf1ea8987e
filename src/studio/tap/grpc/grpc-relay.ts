import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { changesEvents, type FaultPlan, NO_FAULTS } from "../faults/fault-plan.ts";
import { type FrameDecision, StreamFaultInjector } from "../faults/stream-fault-injector.ts";
import { GrpcFrameSplitter, prefixGrpcMessage } from "../frames/grpc-frame-splitter.ts";
import { BoundedBodyCopy, CARD_TOO_LONG_MESSAGE } from "../http/bounded-body-copy.ts";
import { sendRequestBody } from "../http/send-request-body.ts";
import { ClientGoneError, writeResponseBytes } from "../http/write-response-bytes.ts";
import { CallRecorder } from "../recording/call-recorder.ts";
import { InjectedBreakError, type KillSwitch, RelayedCall } from "../relayed-call.ts";
import type { RelayContext } from "../relay-context.ts";
import { formatGrpcStatus, GRPC_STATUS, toGrpcStatusCode } from "./grpc-status.ts";
import {
  decodeGrpcFrame,
  describeGrpcRequest,
  findGrpcMethod,
  type TappedGrpcMethod,
} from "./describe-grpc-call.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import type { CardRewriter } from "../cards/card-rewriter.ts";
import { isAgentCardJson } from "../cards/rewrite-card-urls.ts";

/** Headers of HTTP/2 and of one hop, which the relay sets itself. */
const OMITTED_HEADERS: ReadonlySet<string> = new Set([
  ":method",
  ":path",
  ":scheme",
  ":authority",
  "host",
  "te",
]);

/** Forwards the gRPC calls of one listener to one address, records them, and injects faults. */
export class GrpcRelay {
  readonly #context: RelayContext;
  readonly #origin: string;
  readonly #upstreamUrl: URL;
  readonly #killSwitch: KillSwitch;
  /** The connection to the agent for each connection of a client. */
  readonly #sessions = new Map<ServerHttp2Session, ClientHttp2Session>();

  /** `origin` identifies the agent in the directory. The relay connects to `upstreamUrl`. */
  constructor(context: RelayContext, origin: string, upstreamUrl: URL, killSwitch: KillSwitch) {
    this.#context = context;
    this.#origin = origin;
    this.#upstreamUrl = upstreamUrl;
    this.#killSwitch = killSwitch;
  }

  /** Closes all connections. */
  close(): void {
    for (const [client, agent] of this.#sessions) {
      client.destroy();
      agent.destroy();
    }
  }

  /** Forwards a call. Never rejects. */
  async relay(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    stream.on("error", () => {});
    const path = headers[":path"] ?? "/";
    // If the client disconnects during the import, the stream loses its session.
    const fromAddress = stream.session?.socket.remoteAddress;
    const method = await findGrpcMethod(path);
    const { writer, directory, monotonicNow } = this.#context;
    const agent = directory.findAgent(this.#origin, "");
    const recorder = new CallRecorder(writer, {
      fromAddress,
      to: agent.name,
      url: `${this.#upstreamUrl.origin}${path}`,
      headers: toRecordedGrpcHeaders(headers),
      hasLogEventIds: false,
      monotonicNow,
    });
    const request = new BoundedBodyCopy();
    const call = new RelayedCall(recorder, () => {
      const { description, body } = describeGrpcRequest(path, method, request.bytes, (name) => {
        const value = headers[name];
        return typeof value === "string" ? value : undefined;
      });
      recorder.recordRequest(description, body, request.size);
    });
    this.#killSwitch.add(call);
    try {
      await this.#forward(stream, headers, call, request, method);
    } catch (error) {
      call.recordBreak(error, stream.destroyed, this.#context.stopSignal);
      endWithStatus(stream, GRPC_STATUS.UNAVAILABLE, error instanceof Error ? error.message : String(error));
    }
    this.#killSwitch.delete(call);
    this.#context.onCallEnd(recorder.summarize());
  }

  async #forward(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    call: RelayedCall,
    request: BoundedBodyCopy,
    method: TappedGrpcMethod | undefined,
  ): Promise<void> {
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer, void>;
    const held: Buffer[] = [];
    let plan = NO_FAULTS;
    if (this.#context.switches.hasRules) {
      while (!request.isTruncated) {
        const next = await chunks.next();
        if (next.done) break;
        request.add(next.value);
        held.push(next.value);
      }
      call.noteRequest();
      plan = this.#context.switches.planFaults(call.recorder.toFaultableCall());
      if (await this.#injectRequestFaults(plan, call, stream)) return;
    }
    if (!stream.session || stream.destroyed) throw new ClientGoneError();
    const upstream = this.#openCall(stream.session as ServerHttp2Session, headers);
    const onClientClose = (): void => upstream.close(constants.NGHTTP2_CANCEL);
    stream.once("close", onClientClose);
    const started = waitForHeaders(upstream);
    sendRequestBody(upstream, held, chunks, request).then(
      () => call.noteRequest(),
      () => upstream.close(constants.NGHTTP2_CANCEL),
    );
    const response = await started;
    call.noteRequest();
    if (plan.dropsResponse) {
      upstream.resume();
      call.recorder.recordFault({ fault: "drop", detail: "response" });
      throw new InjectedBreakError("drop");
    }
    const { ":authority": authority } = headers;
    await this.#relayResponse({ stream, upstream, call, plan, method, authority, ...response });
    stream.off("close", onClientClose);
  }

  async #injectRequestFaults(
    plan: FaultPlan,
    call: RelayedCall,
    stream: ServerHttp2Stream,
  ): Promise<boolean> {
    const { recorder } = call;
    const { delayMs, reject, kill } = plan;
    if (delayMs > 0) {
      recorder.recordFault({ fault: "delay", detail: `${delayMs} ms` });
      await delay(delayMs, undefined, { signal: this.#context.stopSignal });
      if (stream.destroyed) throw new ClientGoneError();
    }
    if (kill && kill.afterEvents === 0) {
      call.markKilled("before the request");
      this.#killSwitch.kill(kill.ms);
      throw new InjectedBreakError("kill");
    }
    if (!reject) return false;
    const code = toGrpcStatusCode(reject.status);
    const message = `The tap injected the fault ${reject.status}.`;
    recorder.recordFault({ fault: "reject", detail: String(reject.status) });
    recorder.recordFailure(message, formatGrpcStatus(code));
    endWithStatus(stream, code, message);
    return true;
  }

  #openCall(session: ServerHttp2Session, headers: IncomingHttpHeaders): ClientHttp2Stream {
    const forwarded: OutgoingHttpHeaders = { te: "trailers" };
    for (const [name, value] of Object.entries(headers))
      if (!OMITTED_HEADERS.has(name)) forwarded[name] = value;
    forwarded[":method"] = headers[":method"] ?? "POST";
    forwarded[":path"] = headers[":path"] ?? "/";
    forwarded[":scheme"] = this.#upstreamUrl.protocol.slice(0, -1);
    forwarded[":authority"] = this.#upstreamUrl.host;
    const upstream = this.#getUpstreamSession(session).request(forwarded, { endStream: false });
    upstream.on("error", () => {});
    return upstream;
  }

  #getUpstreamSession(client: ServerHttp2Session): ClientHttp2Session {
    const known = this.#sessions.get(client);
    if (known && !known.closed && !known.destroyed) return known;
    const agent = connect(this.#upstreamUrl.origin, { rejectUnauthorized: this.#context.verifyCertificates });
    // The calls of a session report its errors.
    agent.on("error", () => {});
    agent.setTimeout(0);
    this.#sessions.set(client, agent);
    client.once("close", () => {
      this.#sessions.delete(client);
      agent.close();
    });
    return agent;
  }

  async #relayResponse(response: GrpcResponseRelay): Promise<void> {
    const { stream, upstream, call, plan, method, headers, isTrailersOnly } = response;
    const { recorder } = call;
    const received = new BoundedBodyCopy();
    let trailers: IncomingHttpHeaders = isTrailersOnly ? headers : {};
    upstream.once("trailers", (block: IncomingHttpHeaders) => (trailers = block));
    if (plan.bytesPerSecond < Infinity)
      recorder.recordFault({ fault: "slow", detail: `${plan.bytesPerSecond} bytes per s` });
    if (isTrailersOnly) {
      stream.respond(withoutConnectionHeaders(headers), { endStream: true });
      return this.#recordUnaryResponse(response, trailers, received);
    }
    stream.respond(withoutConnectionHeaders(headers), { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(withoutConnectionHeaders(trailers)));
    const isStream = method?.isStreaming ?? false;
    if (isStream) recorder.recordStreamStart("OK", toRecordedGrpcHeaders(headers));
    const splitter = new GrpcFrameSplitter();
    const injector = new StreamFaultInjector(plan);
    const isByFrame = changesEvents(plan);
    const isCard = returnsCard(method);
    this.#applyDecision(response, { index: 0, copies: 0, ...injector.decideStart() });
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      received.add(chunk);
      if (isCard && received.isTruncated) throw new Error(CARD_TOO_LONG_MESSAGE);
      if (!isByFrame && !isCard) await writeResponseBytes(stream, chunk, plan.bytesPerSecond);
      if (!isStream) continue;
      for (const frame of splitter.push(chunk)) {
        if (!frame.isComplete) {
          if (isByFrame) await writeResponseBytes(stream, frame.bytes, plan.bytesPerSecond);
          continue;
        }
        const decision = injector.decide(frame);
        for (let copy = 0; copy < decision.copies; copy++) {
          if (isByFrame) await writeResponseBytes(stream, frame.bytes, plan.bytesPerSecond);
          const json =
            frame.kind === "event" ? decodeGrpcFrame(method?.decodeResponse, frame.bytes) : undefined;
          recorder.recordFrame({ index: decision.index, size: frame.size, ...(json ? { json } : {}) });
        }
        this.#applyDecision(response, decision);
      }
    }
    if (upstream.rstCode !== constants.NGHTTP2_NO_ERROR)
      throw new Error(`The agent reset the call (HTTP/2 error ${upstream.rstCode}).`);
    if (isCard) await this.#relayCard(response, method, received.bytes);
    stream.end();
    if (!isStream) return this.#recordUnaryResponse(response, trailers, received);
    const error = findGrpcError(trailers);
    recorder.recordStreamEnd("completed", error);
  }

  /** Forwards an agent card whose interfaces lead to the tap. */
  async #relayCard(
    { stream, plan, authority }: GrpcResponseRelay,
    method: TappedGrpcMethod,
    received: Buffer,
  ): Promise<void> {
    const { cards } = this.#context;
    const bytes = await rewriteGrpcCard(received, method, { cards, agentUrl: this.#upstreamUrl, authority });
    await writeResponseBytes(stream, bytes, plan.bytesPerSecond);
  }

  #recordUnaryResponse(
    { call, method }: GrpcResponseRelay,
    trailers: IncomingHttpHeaders,
    received: BoundedBodyCopy,
  ): void {
    const json = decodeGrpcFrame(method?.decodeResponse, received.bytes);
    const status = formatGrpcStatus(Number(trailers["grpc-status"] ?? 0));
    const headers = toRecordedGrpcHeaders(trailers);
    call.recorder.recordResponse(status, headers, json, received.size, findGrpcError(trailers));
  }

  #applyDecision(
    { call, plan }: GrpcResponseRelay,
    { faults, breaks }: Pick<FrameDecision, "index" | "copies" | "faults" | "breaks">,
  ): void {
    for (const fault of faults) if (fault.fault !== "kill") call.recorder.recordFault(fault);
    if (breaks === undefined) return;
    if (breaks === "kill") {
      call.markKilled(faults.find(({ fault }) => fault === "kill")?.detail);
      this.#killSwitch.kill(plan.kill?.ms ?? 0);
    }
    throw new InjectedBreakError(breaks);
  }
}

interface GrpcResponseHead {
  readonly headers: IncomingHttpHeaders;
  /** Whether the response consists of headers only, as errors before the first message do. */
  readonly isTrailersOnly: boolean;
}

interface GrpcResponseRelay extends GrpcResponseHead {
  readonly stream: ServerHttp2Stream;
  readonly upstream: ClientHttp2Stream;
  readonly call: RelayedCall;
  readonly plan: FaultPlan;
  readonly method: TappedGrpcMethod | undefined;
  /** Address under which the client reaches the tap. */
  readonly authority: string | undefined;
}

function waitForHeaders(upstream: ClientHttp2Stream): Promise<GrpcResponseHead> {
  return new Promise((resolve, reject) => {
    upstream.once("response", (headers: IncomingHttpHeaders, flags: number) => {
      resolve({ headers, isTrailersOnly: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 });
    });
    upstream.once("error", reject);
    upstream.once("close", () => reject(new Error("The agent closed the call without a response.")));
  });
}

/** Ends a call with a status of the tap, if the call is still open. */
function endWithStatus(stream: ServerHttp2Stream, code: number, message: string): void {
  if (stream.destroyed || stream.closed) return;
  const status = { "grpc-status": String(code), "grpc-message": encodeURI(message) };
  if (!stream.headersSent) {
    stream.respond({ ":status": 200, "content-type": "application/grpc", ...status }, { endStream: true });
    return;
  }
  stream.removeAllListeners("wantTrailers");
  stream.once("wantTrailers", () => stream.sendTrailers(status));
  stream.end();
}

/** Returns the status and the message of a failed call, or `undefined` if the call succeeded. */
function findGrpcError(trailers: IncomingHttpHeaders): string | undefined {
  const { "grpc-status": status = "0", "grpc-message": message = "" } = trailers;
  if (String(status) === "0") return undefined;
  return `${formatGrpcStatus(Number(status))}: ${decodeGrpcMessage(String(message))}`;
}

/** Decodes the percent-encoding of `grpc-message`, unless it is invalid. */
function decodeGrpcMessage(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

/** Returns the headers without the pseudo-headers of HTTP/2. */
function toRecordedGrpcHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const recorded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (!name.startsWith(":") && value !== undefined)
      recorded[name] = Array.isArray(value) ? value.join(", ") : value;
  return recorded;
}

/** Returns a copy that Node.js can send again, because received headers have a symbol with sensitive names. */
function withoutConnectionHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers));
}

/** Returns whether the responses of a gRPC method are agent cards. */
function returnsCard(method: TappedGrpcMethod | undefined): method is TappedGrpcMethod {
  return method?.operation === "GetExtendedAgentCard";
}

/**
 * Directs the interfaces of an agent card to the tap, and returns the response with its prefix. Returns the received
 * bytes if they contain no card that the tap can decode. Fields that the tap does not know are lost.
 */
async function rewriteGrpcCard(
  received: Buffer,
  method: TappedGrpcMethod,
  {
    cards,
    agentUrl,
    authority,
  }: {
    readonly cards: CardRewriter;
    /** Address of the agent. */
    readonly agentUrl: URL;
    /** Address under which the client reaches the tap. */
    readonly authority: string | undefined;
  },
): Promise<Buffer> {
  const card: JsonObject | undefined = decodeGrpcFrame(method.decodeResponse, received);
  if (!isAgentCardJson(card)) return received;
  const clientHostname = URL.parse(`http://${authority}`)?.hostname ?? "127.0.0.1";
  const rewritten = await cards.rewrite(card, agentUrl, clientHostname);
  return rewritten === card ? received : prefixGrpcMessage(method.encodeResponse(rewritten));
}
