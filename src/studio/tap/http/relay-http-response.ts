import type { IncomingMessage, ServerResponse } from "node:http";
import { isAgentCardJson } from "../cards/rewrite-card-urls.ts";
import { changesEvents, type FaultPlan } from "../faults/fault-plan.ts";
import { StreamFaultInjector, type FrameDecision } from "../faults/stream-fault-injector.ts";
import type { StreamFrame } from "../frames/frame-splitter.ts";
import { parseSseFrameFields, SseFrameSplitter } from "../frames/sse-frame-splitter.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import { parseRecordedJson } from "../recording/call-description.ts";
import type { RecordedFrame } from "../recording/call-recorder.ts";
import type { RelayContext } from "../relay-context.ts";
import { InjectedBreakError, type RelayedCall } from "../relayed-call.ts";
import { BoundedBodyCopy, MAX_COPIED_BODY_BYTES } from "./bounded-body-copy.ts";
import { replaceOriginInHeader, selectForwardedHeaders, toRecordedHeaders } from "./forwarded-headers.ts";
import { ClientGoneError, writeResponseBytes } from "./write-response-bytes.ts";

/** A response on its way from the agent to the client. */
export interface HttpResponseRelay {
  readonly context: RelayContext;
  readonly upstreamUrl: URL;
  readonly request: IncomingMessage;
  readonly agentResponse: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: RelayedCall;
  readonly plan: FaultPlan;
  /** Resets all connections of the listener for a time in milliseconds. */
  readonly kill: (ms: number) => void;
}

/** Forwards a response, and injects its faults. Rejects if the response breaks, or if a fault breaks it. */
export async function relayHttpResponse(relay: HttpResponseRelay): Promise<void> {
  const { agentResponse, call, plan } = relay;
  if (plan.dropsResponse) {
    // The agent finishes its response, which the client does not receive.
    agentResponse.resume();
    call.recorder.recordFault({ fault: "drop", detail: "response" });
    throw new InjectedBreakError("drop");
  }
  if (plan.bytesPerSecond < Infinity)
    call.recorder.recordFault({ fault: "slow", detail: `${plan.bytesPerSecond} bytes per s` });
  if (isEventStream(agentResponse)) await relayEventStream(relay);
  else if (canContainCard(relay)) await relayCard(relay);
  else await relayBody(relay);
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return (
    /^text\/event-stream\b/i.test(headers["content-type"] ?? "") && !isEncoded(headers["content-encoding"])
  );
}

function isEncoded(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding !== "identity";
}

/** Returns whether the response can be an agent card, so that the tap reads the whole response first. */
function canContainCard({ request, agentResponse, call }: HttpResponseRelay): boolean {
  const { headers, statusCode } = agentResponse;
  if (statusCode !== 200 || request.method === "HEAD") return false;
  if (!/\bjson\b/i.test(headers["content-type"] ?? "") || isEncoded(headers["content-encoding"]))
    return false;
  if (Number(headers["content-length"] ?? 0) > MAX_COPIED_BODY_BYTES) return false;
  const { a2aOperation } = call.recorder.description;
  return a2aOperation === undefined ? request.method === "GET" : a2aOperation === "GetExtendedAgentCard";
}

function selectResponseHeaders(relay: HttpResponseRelay, removed: readonly string[] = []): string[] {
  const { agentResponse, upstreamUrl, request } = relay;
  const headers = selectForwardedHeaders(agentResponse.rawHeaders, removed);
  return replaceOriginInHeader(headers, "location", upstreamUrl.origin, `http://${request.headers.host}`);
}

/** Forwards a response as it arrives. `held` are its first chunks, which the tap has already read. */
async function relayBody(relay: HttpResponseRelay, held: readonly Buffer[] = []): Promise<void> {
  const { agentResponse, response, plan } = relay;
  const copy = new BoundedBodyCopy();
  const status = agentResponse.statusCode ?? 502;
  response.writeHead(status, agentResponse.statusMessage, selectResponseHeaders(relay));
  const forward = async (chunk: Buffer): Promise<void> => {
    copy.add(chunk);
    await writeResponseBytes(response, chunk, plan.bytesPerSecond);
  };
  for (const chunk of held) await forward(chunk);
  for await (const chunk of agentResponse as AsyncIterable<Buffer>) await forward(chunk);
  response.end();
  recordBody(relay, copy.bytes, copy.size);
}

function recordBody({ agentResponse, call }: HttpResponseRelay, bytes: Buffer, size: number): void {
  const headers = toRecordedHeaders(agentResponse.rawHeaders);
  call.recorder.recordResponse(agentResponse.statusCode ?? 502, headers, parseRecordedJson(bytes), size);
}

/**
 * Reads a response that can be an agent card, and directs the interfaces of the card to the tap. A response that is too
 * long for a card passes unchanged.
 */
async function relayCard(relay: HttpResponseRelay): Promise<void> {
  const { agentResponse, response, plan, context, upstreamUrl, request } = relay;
  const copy = new BoundedBodyCopy();
  const chunks: Buffer[] = [];
  for await (const chunk of agentResponse.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    copy.add(chunk);
    chunks.push(chunk);
    if (copy.isTruncated) return relayBody(relay, chunks);
  }
  const received = Buffer.concat(chunks);
  const json = parseRecordedJson(received);
  const cardUrl = new URL(request.url ?? "/", upstreamUrl);
  const rewritten = json && (await rewriteCardInResponse(json, context, cardUrl, getHostname(request)));
  const bytes = rewritten ? Buffer.from(JSON.stringify(rewritten)) : received;
  const removed = rewritten
    ? ["content-length", "etag", "last-modified", "cache-control", "digest", "content-digest"]
    : [];
  const headers = selectResponseHeaders(relay, removed);
  if (rewritten) headers.push("Content-Length", String(bytes.length), "Cache-Control", "no-store");
  response.writeHead(agentResponse.statusCode ?? 502, agentResponse.statusMessage, headers);
  await writeResponseBytes(response, bytes, plan.bytesPerSecond);
  response.end();
  recordBody(relay, received, received.length);
}

/** Returns the response with a rewritten card, or `undefined` if the response contains no card. */
async function rewriteCardInResponse(
  json: JsonObject,
  { cards }: RelayContext,
  cardUrl: URL,
  clientHostname: string,
): Promise<JsonObject | undefined> {
  const { result } = json;
  if (isAgentCardJson(result))
    return { ...json, result: await cards.rewrite(result, cardUrl, clientHostname) };
  return isAgentCardJson(json) ? await cards.rewrite(json, cardUrl, clientHostname) : undefined;
}

/** Returns the host name under which the client reaches the tap. */
function getHostname({ headers: { host } }: IncomingMessage): string {
  return URL.parse(`http://${host}`)?.hostname ?? "127.0.0.1";
}

async function relayEventStream(relay: HttpResponseRelay): Promise<void> {
  const { agentResponse, response, call, plan } = relay;
  const { recorder } = call;
  const status = agentResponse.statusCode ?? 502;
  response.writeHead(status, agentResponse.statusMessage, selectResponseHeaders(relay));
  response.flushHeaders();
  recorder.recordStreamStart(status, toRecordedHeaders(agentResponse.rawHeaders));
  const splitter = new SseFrameSplitter();
  const injector = new StreamFaultInjector(plan);
  const isByFrame = changesEvents(plan);
  await applyDecision(relay, { index: 0, ...injector.decideStart(), copies: 0 });
  for await (const chunk of agentResponse as AsyncIterable<Buffer>) {
    // Without faults in this stream, the client receives the chunks of the agent.
    if (!isByFrame) await writeResponseBytes(response, chunk, plan.bytesPerSecond);
    for (const frame of splitter.push(chunk)) {
      if (!frame.isComplete) {
        if (isByFrame) await writeResponseBytes(response, frame.bytes, plan.bytesPerSecond);
        continue;
      }
      const decision = injector.decide(frame);
      for (let copy = 0; copy < decision.copies; copy++) {
        if (isByFrame) await writeResponseBytes(response, frame.bytes, plan.bytesPerSecond);
        recorder.recordFrame(toRecordedFrame(frame, decision.index));
      }
      await applyDecision(relay, decision);
    }
  }
  if (isByFrame) await writeResponseBytes(response, splitter.takeRest(), plan.bytesPerSecond);
  response.end();
  recorder.recordStreamEnd("completed");
}

/** Records the faults of a frame, and breaks the connection after the frame if a fault requires it. */
async function applyDecision(
  { call, response, plan, kill }: HttpResponseRelay,
  decision: FrameDecision,
): Promise<void> {
  const { faults, breaks } = decision;
  for (const fault of faults) if (fault.fault !== "kill") call.recorder.recordFault(fault);
  if (breaks === undefined) return;
  await flushAndClose(response);
  if (breaks === "kill") {
    call.markKilled(faults.find(({ fault }) => fault === "kill")?.detail);
    kill(plan.kill?.ms ?? 0);
  }
  throw new InjectedBreakError(breaks);
}

/** Closes the connection without the end of the response, after the client has received the bytes so far. */
async function flushAndClose(response: ServerResponse): Promise<void> {
  const { socket } = response;
  if (!socket || socket.destroyed) throw new ClientGoneError();
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.destroySoon();
  });
}

function toRecordedFrame(frame: StreamFrame, index: number): RecordedFrame {
  if (frame.kind === "oversized") return { index, size: frame.size };
  const { id, data, comment } = parseSseFrameFields(frame.bytes);
  const json = data === undefined ? undefined : parseRecordedJson(Buffer.from(data));
  const text = json === undefined ? (data ?? comment) : undefined;
  return {
    index,
    size: frame.size,
    ...(id === undefined ? {} : { id }),
    ...(json === undefined ? {} : { json }),
    ...(text === undefined ? {} : { text }),
  };
}
