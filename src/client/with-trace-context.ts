import {
  A2AError,
  type AgentCard,
  type AgentInterface,
  type OperationName,
  type Operations,
  PARENT_TASK_EXTENSION_URI,
  type SendMessageRequest,
  toTraceHeaders,
} from "../protocol/index.ts";
import {
  addParentTask,
  buildA2ARequestAttributes,
  buildA2AResponseAttributes,
  buildServerAddressAttributes,
  getCurrentTraceScope,
  getTracer,
  type SpanError,
  type TracedSpan,
} from "../observe/telemetry/index.ts";
import type { CallOptions } from "./transport/transport.ts";
import type { ReceivedStreamEvent, Transport } from "./transport/transport.ts";

/** The agent whose calls are traced. */
interface TracedTarget {
  readonly card: AgentCard;
  readonly agentInterface: AgentInterface;
  /** URIs of the extensions that the client requests. */
  readonly extensions: readonly string[];
}

/** A call that continues a trace. `span` is undefined if the caller has set the `traceparent` header. */
interface TracedCall<Params, Call> {
  readonly span: TracedSpan | undefined;
  readonly params: Params;
  readonly call: Call;
}

/**
 * Wraps a transport so that its calls continue the trace of the running code. Each call has its own span, whose id is in
 * the `traceparent` header. Calls of an agent also state the task of the agent, if the remote agent declares the
 * parent task extension. A `traceparent` header of the caller takes precedence. Outside of agents, and without
 * OpenTelemetry, the calls have no trace: a browser may send the header only to servers that allow it.
 */
export function withTraceContext(transport: Transport, target: TracedTarget): Transport {
  const addressAttributes = buildServerAddressAttributes(target.agentInterface.url);
  const sendsParentTask = target.extensions.includes(PARENT_TASK_EXTENSION_URI);

  function startCall<O extends OperationName, Call extends CallOptions>(
    operation: O,
    params: Operations[O]["params"],
    call: Call,
  ): TracedCall<Operations[O]["params"], Call> {
    const tracer = getTracer();
    const scope = getCurrentTraceScope();
    if (!scope && !tracer.records) return { span: undefined, params, call: withFallbackTraceparent(call) };
    const callParams =
      sendsParentTask && scope?.task && "message" in params ? withParentTask(params, scope.task) : params;
    if (hasTraceparent(call.headers)) return { span: undefined, params: callParams, call };
    const span = tracer.startSpan({
      name: operation,
      kind: "client",
      attributes: () => ({
        ...buildA2ARequestAttributes({
          operation,
          protocolVersion: transport.version,
          card: target.card,
          params,
        }),
        ...addressAttributes,
      }),
    });
    return {
      span,
      params: callParams,
      call: { ...call, headers: { ...toTraceHeaders(span.context), ...call.headers } },
    };
  }

  return {
    version: transport.version,
    call(operation, params, callOptions) {
      const { span, ...traced } = startCall(operation, params, callOptions);
      const send = (): ReturnType<typeof transport.call<typeof operation>> =>
        transport.call(operation, traced.params, traced.call);
      if (!span?.isRecording) return span ? span.runRequest(send) : send();
      return endSpanWithResult(span, span.runRequest(send));
    },
    stream(operation, params, callOptions) {
      const { span, ...traced } = startCall(operation, params, callOptions);
      const events = transport.stream(operation, traced.params, traced.call);
      return span && getTracer().records ? streamInSpan(span, events) : events;
    },
  };
}

/** The parameters of an operation with a message are those of SendMessage. */
function withParentTask<Params extends object>(
  params: Params,
  task: Parameters<typeof addParentTask>[1],
): Params {
  const { message } = params as unknown as SendMessageRequest;
  return { ...params, message: addParentTask(message, task) };
}

/** Adds the trace of the option `fallbackTraceparent`, unless the caller has set a `traceparent` header. */
function withFallbackTraceparent<Call extends CallOptions>(call: Call): Call {
  const { fallbackTraceparent: traceparent, headers } = call;
  return traceparent === undefined || hasTraceparent(headers)
    ? call
    : { ...call, headers: { traceparent, ...headers } };
}

function hasTraceparent(headers: Readonly<Record<string, string>> | undefined): boolean {
  return headers !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === "traceparent");
}

async function endSpanWithResult<Result extends object | undefined | void>(
  span: TracedSpan,
  response: Promise<Result>,
): Promise<Result> {
  try {
    const result = await response;
    if (result) span.setAttributes(buildA2AResponseAttributes(result));
    span.end();
    return result;
  } catch (error) {
    span.end(describeFailure(error));
    throw error;
  }
}

async function* streamInSpan(
  span: TracedSpan,
  events: AsyncIterable<ReceivedStreamEvent>,
): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let failure: SpanError | undefined;
  let isOver = false;
  try {
    for (;;) {
      const next = await span.runRequest(() => iterator.next());
      isOver = next.done === true;
      if (next.done) return;
      if (span.isRecording) span.setAttributes(buildA2AResponseAttributes(next.value.event));
      yield next.value;
    }
  } catch (error) {
    isOver = true;
    failure = describeFailure(error);
    throw error;
  } finally {
    span.end(failure);
    if (!isOver) await iterator.return?.();
  }
}

function describeFailure(error: unknown): SpanError {
  if (error instanceof A2AError) return { type: error.reason, message: error.message };
  return { type: error instanceof Error ? error.name : "_OTHER" };
}
