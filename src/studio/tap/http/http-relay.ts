import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { NO_FAULTS, type FaultPlan } from "../faults/fault-plan.ts";
import { describeHttpRequest, parseRecordedJson } from "../recording/call-description.ts";
import { CallRecorder } from "../recording/call-recorder.ts";
import { InjectedBreakError, RelayedCall, type KillSwitch } from "../relayed-call.ts";
import type { RelayContext } from "../relay-context.ts";
import { BoundedBodyCopy } from "./bounded-body-copy.ts";
import { toRecordedHeaders } from "./forwarded-headers.ts";
import { relayHttpResponse } from "./relay-http-response.ts";
import { sendProblem } from "./send-problem.ts";
import { sendRequestBody } from "./send-request-body.ts";
import { UpstreamConnections } from "./upstream-request.ts";
import { ClientGoneError } from "./write-response-bytes.ts";

/** Forwards the HTTP requests of one listener to one origin, records them, and injects faults. */
export class HttpRelay {
  readonly #context: RelayContext;
  readonly #origin: string;
  readonly #upstreamUrl: URL;
  readonly #connections: UpstreamConnections;
  readonly #killSwitch: KillSwitch;

  /** `origin` identifies the agent in the directory. The relay connects to `upstreamUrl`. */
  constructor(context: RelayContext, origin: string, upstreamUrl: URL, killSwitch: KillSwitch) {
    this.#context = context;
    this.#origin = origin;
    this.#upstreamUrl = upstreamUrl;
    this.#connections = new UpstreamConnections(upstreamUrl, context);
    this.#killSwitch = killSwitch;
  }

  /** Closes the connections to the agent. */
  close(): void {
    this.#connections.close();
  }

  /** Forwards a request. Never rejects. */
  async relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#refuse(request, response)) return;
    const body = new BoundedBodyCopy();
    const call = this.#createCall(request, body);
    this.#killSwitch.add(call);
    try {
      await this.#forward(request, response, call, body);
    } catch (error) {
      call.recordBreak(error, response.destroyed, this.#context.stopSignal);
      response.destroy();
    }
    this.#killSwitch.delete(call);
    this.#context.onCallEnd(call.recorder.summarize());
  }

  /** Replies to requests that the relay does not forward. */
  #refuse(request: IncomingMessage, response: ServerResponse): boolean {
    const { upgrade = "", via } = request.headers;
    if (/\bwebsocket\b/i.test(upgrade)) {
      sendProblem(
        response,
        501,
        "The tap does not forward WebSocket connections. Connect to the agent directly.",
      );
      return true;
    }
    if (via?.includes(this.#context.pseudonym)) {
      const message = `The target ${this.#upstreamUrl.origin} is this tap. Start the tap with the URL of the agent.`;
      sendProblem(response, 508, message);
      return true;
    }
    return false;
  }

  #createCall(request: IncomingMessage, body: BoundedBodyCopy): RelayedCall {
    const { writer, directory, monotonicNow } = this.#context;
    const { url: target = "/", method = "GET" } = request;
    const url = new URL(this.#upstreamUrl.origin + (target.startsWith("/") ? target : "/"));
    const headers = toRecordedHeaders(request.rawHeaders);
    const { name, hasLogEventIds } = directory.findAgent(this.#origin, url.pathname);
    const fromAddress = request.socket.remoteAddress;
    const call = { fromAddress, to: name, url: url.href, headers, hasLogEventIds, monotonicNow };
    const recorder = new CallRecorder(writer, call);
    const header = (headerName: string): string | undefined => headers[headerName];
    return new RelayedCall(recorder, () => {
      const json = parseRecordedJson(body.bytes);
      const description = describeHttpRequest({ method, target, header, body: json });
      recorder.recordRequest(description, json, body.size);
    });
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    call: RelayedCall,
    body: BoundedBodyCopy,
  ): Promise<void> {
    const chunks = request[Symbol.asyncIterator]() as AsyncIterator<Buffer, void>;
    const held: Buffer[] = [];
    let plan = NO_FAULTS;
    if (this.#context.switches.hasRules) {
      // Rules match the operation, which can be in the body. A longer body is forwarded without faults.
      while (!body.isTruncated) {
        const next = await chunks.next();
        if (next.done) break;
        body.add(next.value);
        held.push(next.value);
      }
      call.noteRequest();
      plan = this.#context.switches.planFaults(call.recorder.toFaultableCall());
      if (await this.#injectRequestFaults(plan, call, response)) return;
    }
    const clientClosed = new AbortController();
    const { signal } = clientClosed;
    const onClientClose = (): void => clientClosed.abort();
    response.once("close", onClientClose);
    let agentResponse: IncomingMessage;
    try {
      const upstream = await this.#connections.open(request, signal);
      const received = this.#connections.waitForResponse(upstream, request, signal);
      sendRequestBody(upstream.outgoing, held, chunks, body).then(
        () => call.noteRequest(),
        () => upstream.outgoing.destroy(),
      );
      agentResponse = await received;
    } catch (error) {
      call.noteRequest();
      if (response.destroyed || this.#context.stopSignal.aborted) throw error;
      const cause = error instanceof Error ? error.message : String(error);
      const message = `The tap received no response from the agent at ${this.#upstreamUrl.origin} (${cause}). Check that the agent is running.`;
      call.recorder.recordFailure(message, 502);
      return sendProblem(response, 502, message);
    }
    call.noteRequest();
    await relayHttpResponse({
      context: this.#context,
      upstreamUrl: this.#upstreamUrl,
      request,
      agentResponse,
      response,
      call,
      plan,
      kill: (ms) => this.#killSwitch.kill(ms),
    });
    response.off("close", onClientClose);
  }

  /** Injects the faults that precede the agent. Resolves with true if the tap has replied instead of the agent. */
  async #injectRequestFaults(plan: FaultPlan, call: RelayedCall, response: ServerResponse): Promise<boolean> {
    const { recorder } = call;
    const { delayMs, reject, kill } = plan;
    if (delayMs > 0) {
      recorder.recordFault({ fault: "delay", detail: `${delayMs} ms` });
      await delay(delayMs, undefined, { signal: this.#context.stopSignal });
      if (response.destroyed) throw new ClientGoneError();
    }
    if (kill && kill.afterEvents === 0) {
      call.markKilled("before the request");
      this.#killSwitch.kill(kill.ms);
      throw new InjectedBreakError("kill");
    }
    if (!reject) return false;
    const { status, retryAfterSeconds } = reject;
    const message = `The tap injected the fault ${status}.`;
    recorder.recordFault({ fault: "reject", detail: String(status) });
    recorder.recordFailure(message, status);
    sendProblem(
      response,
      status,
      message,
      retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
    );
    return true;
  }
}
