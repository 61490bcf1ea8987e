import { wrapLanguageModel, type ToolSet } from "ai";
import { DurableCall } from "../../../base/data-structures/index.ts";
import type { Run, StepExecution } from "../../../engine/index.ts";
import { findRunOfSignal } from "../run-of-signal.ts";

/** The part of a run that executes steps. */
export type RunWithSteps = Pick<Run, "once">;

/** A model of the AI SDK. */
type AiSdkModel = Parameters<typeof wrapLanguageModel>[0]["model"];
type WrappedModel = ReturnType<typeof wrapLanguageModel>;
type ModelCallOptions = Parameters<WrappedModel["doStream"]>[0];
type GenerateResult = Awaited<ReturnType<WrappedModel["doGenerate"]>>;
type StreamResult = Awaited<ReturnType<WrappedModel["doStream"]>>;
type StreamPart = StreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;

/**
 * Wraps a model of the AI SDK, so that a later attempt at the turn does not repeat the calls that an earlier attempt has
 * finished. A call is repeated if its input differs, for example because the prompt contains the current time. The
 * parts of a stream from its first tool call on are delayed until the store has the stream, so that no tool runs for an
 * answer that a later attempt would replace.
 *
 * The model finds its run by the `abortSignal` of the call. Pass `run` if the call has another signal, as with the
 * setting `timeout`.
 */
export function durable(model: AiSdkModel, run?: RunWithSteps): WrappedModel {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: ({ doGenerate, params, model: called }) =>
        createModelCall(called, params, run).execute(async () => withoutTransport(await doGenerate())),
      wrapStream: ({ doStream, params, model: called }) =>
        streamOnce(createModelCall(called, params, run), doStream),
    },
  });
}

/**
 * Wraps the tools of an AI SDK agent, so that a later attempt at the turn does not repeat the calls that an earlier
 * attempt has finished. The options of a tool's `execute` also contain `idempotencyKey`, for a call that was in flight
 * when its process died. Tools that stream preliminary results return only their last result.
 */
export function durableTools<Tools extends ToolSet>(tools: Tools, run?: RunWithSteps): Tools {
  const entries = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool;
    if (!execute) return [name, tool];
    const executeOnce: typeof execute = (input: unknown, options) => {
      const call = new DurableCall(
        requireRun(run, options.abortSignal, `tool ${name}`),
        `tool ${name}`,
        input,
      );
      return call.execute(async ({ idempotencyKey }) =>
        takeLast(await execute(input as never, { ...options, idempotencyKey } as typeof options)),
      );
    };
    return [name, { ...tool, execute: executeOnce }];
  });
  return Object.fromEntries(entries) as Tools;
}

async function takeLast(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) last = value;
  return last;
}

function createModelCall(
  { provider, modelId }: WrappedModel,
  { abortSignal, headers: _headers, ...input }: ModelCallOptions,
  run: RunWithSteps | undefined,
): DurableCall<StepExecution> {
  return new DurableCall(requireRun(run, abortSignal, `model ${modelId}`), "model", {
    provider,
    modelId,
    ...input,
  });
}

function requireRun(
  run: RunWithSteps | undefined,
  signal: AbortSignal | undefined,
  caller: string,
): RunWithSteps {
  const found = run ?? findRunOfSignal(signal);
  if (found) return found;
  throw new TypeError(
    `The durable ${caller} was called without the abort signal of a run. Pass abortSignal: run.signal, or the run as the second argument of durable.`,
  );
}

/** Omits the request and the headers, which may contain credentials and which later attempts do not need. */
function withoutTransport({ request: _request, response, ...result }: GenerateResult): GenerateResult {
  if (!response) return result;
  const { headers: _headers, body: _body, ...publicResponse } = response;
  return { ...result, response: publicResponse };
}

async function streamOnce(
  call: DurableCall<StepExecution>,
  doStream: () => PromiseLike<StreamResult>,
): Promise<StreamResult> {
  const stored = await call.findStored();
  if (stored) return { stream: ReadableStream.from(stored.result as StreamPart[]) };
  try {
    const { stream, ...result } = await doStream();
    return { ...result, stream: ReadableStream.from(storeAtEnd(call, stream)) };
  } catch (error) {
    call.release();
    throw error;
  }
}

/** Yields the parts of a stream, and stores the stream at its end, unless the stream contains an error. */
async function* storeAtEnd(
  call: DurableCall<StepExecution>,
  stream: ReadableStream<StreamPart>,
): AsyncGenerator<StreamPart, void, undefined> {
  const parts: StreamPart[] = [];
  const delayed: StreamPart[] = [];
  let hasFailed = true;
  try {
    for await (const part of stream) {
      parts.push(part);
      if (part.type === "tool-call" || part.type === "finish" || delayed.length > 0) delayed.push(part);
      else yield part;
    }
    hasFailed = parts.some(({ type }) => type === "error");
  } finally {
    if (hasFailed) call.release();
  }
  if (!hasFailed) await call.execute(() => parts);
  yield* delayed;
}
